//! The way to the service.

use crate::parsed::Parsed;
use crate::parts::tls::TlsPart;
use std::net::IpAddr;
use std::path::PathBuf;
use std::str::FromStr;

/// The way to the service.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TransportPart {
    /// Addresses and networks of this machine to connect from.
    pub bind: Vec<String>,
    pub resolve: Vec<Parsed<Resolved>>,
    /// Hosts and ports to connect to instead of those of URLs, which options of hurl files name.
    pub connect_to: Vec<ConnectTo>,
    /// The only family of addresses to connect to, which an option of a hurl file names.
    pub family: Option<Family>,
    pub unix_socket: Option<PathBuf>,
    pub proxy: Option<String>,
    pub proxy_user: Option<String>,
    pub http2: Http2Part,
    /// Whether HTTP/3 is spoken.
    pub http3: bool,
    /// Whether HTTP/3 is spoken where the server offers it.
    pub alt_svc: bool,
    /// The port at which the server offers HTTP/3, if a response has offered it.
    pub http3_port: Option<u16>,
    pub tls: TlsPart,
}

/// Whether HTTP/2 is spoken, and how, and the streams of HTTP/2 or HTTP/3.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Http2Part {
    pub http2: bool,
    pub http2_prior_knowledge: bool,
    pub streams: Option<Parsed<u16>>,
}

impl Http2Part {
    /// Returns whether HTTP/2 is spoken.
    pub fn is_on(&self) -> bool {
        self.http2 || self.http2_prior_knowledge
    }
}

/// What `--resolve` says of one host and port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolved {
    pub host: String,
    pub port: u16,
    pub addresses: Vec<IpAddr>,
}

impl Resolved {
    /// Returns whether this is for a host and port.
    pub fn is_for(&self, host: &str, port: u16) -> bool {
        self.host.eq_ignore_ascii_case(host) && self.port == port
    }
}

/// As curl: the host may stand in brackets, and so may each address.
pub fn resolved(text: &str) -> Result<Resolved, String> {
    let bare = |text: &str| text.trim_start_matches('[').trim_end_matches(']').to_owned();
    let parts = || {
        let (host, rest) = match text.starts_with('[') {
            true => text.split_once("]:")?,
            false => text.split_once(':')?,
        };
        let (port, addresses) = rest.split_once(':')?;
        let addresses = addresses.split(',').map(|a| bare(a).parse().ok()).collect::<Option<Vec<IpAddr>>>()?;
        Some(Resolved { host: bare(host), port: port.parse().ok()?, addresses })
    };
    parts().ok_or_else(|| "must be HOST:PORT:ADDRESS, such as example.com:443:192.0.2.1".into())
}

/// A family of addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    V4,
    V6,
}

/// Another host and port to connect to, as `--connect-to` of curl: `HOST1:PORT1:HOST2:PORT2`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConnectTo {
    /// The host of URLs; `None` for every host.
    pub from_host: Option<String>,
    /// The port of URLs; `None` for every port.
    pub from_port: Option<u16>,
    /// The host to connect to; `None` for that of the URL.
    pub host: Option<String>,
    /// The port to connect to; `None` for that of the URL.
    pub port: Option<u16>,
}

impl FromStr for ConnectTo {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong =
            || format!("must be HOST1:PORT1:HOST2:PORT2, such as example.com:443:127.0.0.1:8443, found '{text}'");
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some(inner) = rest.strip_prefix('[') {
            // An address of IPv6 stands in brackets.
            let (host, after) = inner.split_once("]:").ok_or_else(wrong)?;
            let (port, after) = after.split_once(':').unwrap_or((after, ""));
            parts.extend([host, port]);
            rest = after;
        }
        if parts.len() < 4 {
            let (host, after) = rest.split_once(':').ok_or_else(wrong)?;
            let (port, after) = after.split_once(':').unwrap_or((after, ""));
            parts.extend([host, port]);
            rest = after;
        }
        if parts.len() < 4 {
            let (host, port) = rest.rsplit_once(':').ok_or_else(wrong)?;
            parts.extend([host.trim_start_matches('[').trim_end_matches(']'), port]);
            rest = "";
        }
        let [from_host, from_port, host, port] = <[&str; 4]>::try_from(parts).map_err(|_| wrong())?;
        let given = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        let number = |text: &str| match text {
            "" => Ok(None),
            digits => digits.parse().map(Some).map_err(|_| wrong()),
        };
        if !rest.is_empty() || host.contains(':') && host.parse::<IpAddr>().is_err() {
            return Err(wrong());
        }
        Ok(Self { from_host: given(from_host), from_port: number(from_port)?, host: given(host), port: number(port)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_host_to_connect_to() {
        let parts = |text: &str| {
            let ConnectTo { from_host, from_port, host, port } = text.parse().ok()?;
            Some((from_host.unwrap_or_default(), from_port, host.unwrap_or_default(), port))
        };
        for (text, (from_host, from_port, host, port)) in [
            ("a.test:80:127.0.0.1:8080", ("a.test", Some(80), "127.0.0.1", Some(8080))),
            (":::", ("", None, "", None)),
            ("::b.test:", ("", None, "b.test", None)),
            ("a.test:::81", ("a.test", None, "", Some(81))),
            ("a.test:80:[::1]:81", ("a.test", Some(80), "::1", Some(81))),
            ("[::2]:80:b.test:81", ("::2", Some(80), "b.test", Some(81))),
            ("[::2]:80:[::1]:81", ("::2", Some(80), "::1", Some(81))),
        ] {
            assert_eq!(parts(text), Some((from_host.to_owned(), from_port, host.to_owned(), port)), "{text}");
        }
        for bad in ["", "a", "a:80", "a:80:b", "a:80:b:c", "a:80:b:1:2", "a:99999:b:1", "[::1:80:b:1", "x:y:b:1"] {
            assert_eq!(parts(bad), None, "{bad}");
        }
    }

    #[test]
    fn addresses_for_a_host() {
        let expected = |host: &str, port, addresses: &[&str]| Resolved {
            host: host.into(),
            port,
            addresses: addresses.iter().map(|a| a.parse().unwrap()).collect(),
        };
        assert_eq!(resolved("a.test:80:192.0.2.1,192.0.2.2"), Ok(expected("a.test", 80, &["192.0.2.1", "192.0.2.2"])));
        assert_eq!(resolved("[::2]:80:[::1]"), Ok(expected("::2", 80, &["::1"])));
        for bad in ["", "a", "a:80", "a:80:", "a:b:192.0.2.1", "a:80:name", ":", "[::1]"] {
            assert!(resolved(bad).is_err(), "{bad:?} was taken");
        }
    }
}
