//! The query of a request: `?port=8080`, `?address=10.0.0.5:8080`, or none.

use std::fmt;
use std::net::SocketAddr;

/// Where the service listens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Target {
    /// At any address.
    Port(u16),
    /// At this one.
    Address(SocketAddr),
}

impl Target {
    /// `None` if no service is named.
    pub fn of_query(query: &str) -> Result<Option<Self>, String> {
        let mut target = None;
        for (name, value) in
            query.split('&').filter(|part| !part.is_empty()).map(|part| part.split_once('=').unwrap_or((part, "")))
        {
            let found = match name {
                "port" => value.parse().ok().filter(|port| *port > 0).map(Self::Port),
                // What has brackets and colons is often sent encoded.
                "address" => decoded(value).parse().ok().map(Self::Address),
                _ => return Err(format!("unknown parameter '{name}': use 'port' or 'address'")),
            };
            let Some(found) = found else {
                return Err(format!(
                    "expected a parameter such as port=8080 or address=10.0.0.5:8080, found '{name}={value}'"
                ));
            };
            if target.replace(found).is_some() {
                return Err("expected one 'port' or 'address', found several".into());
            }
        }
        Ok(target)
    }

    pub fn port(&self) -> u16 {
        match self {
            Self::Port(port) => *port,
            Self::Address(address) => address.port(),
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Port(port) => write!(out, "port {port}"),
            Self::Address(address) => write!(out, "{address}"),
        }
    }
}

/// The three characters that an address has and that may be encoded.
fn decoded(value: &str) -> String {
    let mut value = value.to_owned();
    for (code, character) in [("%3A", ":"), ("%3a", ":"), ("%5B", "["), ("%5b", "["), ("%5D", "]"), ("%5d", "]")] {
        value = value.replace(code, character);
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_service_or_none_is_named() {
        let address = |text: &str| Target::Address(text.parse().expect("an address"));
        assert_eq!(Target::of_query(""), Ok(None));
        assert_eq!(Target::of_query("port=8080"), Ok(Some(Target::Port(8080))));
        assert_eq!(Target::of_query("address=10.0.0.5:80"), Ok(Some(address("10.0.0.5:80"))));
        assert_eq!(Target::of_query("address=%5B::1%5d%3A80"), Ok(Some(address("[::1]:80"))));
        for wrong in ["port=", "port=0", "port=65536", "address=10.0.0.5", "adress=10.0.0.5:80", "port=1&port=2"] {
            assert!(Target::of_query(wrong).is_err(), "{wrong}");
        }
    }
}
