//! The proxies that the environment names, by the rules of Go's programs.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use ipnet::IpNet;
use percent_encoding::percent_decode_str;
use std::net::IpAddr;
use url::Url;

/// The proxies of a run. None is used for this machine itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Proxies {
    http: Option<Proxy>,
    https: Option<Proxy>,
    direct: Vec<Direct>,
}

/// A proxy, or the reason why the one that is named cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Proxy {
    /// A proxy over plain HTTP.
    Http {
        /// The name or address, without brackets.
        host: String,
        /// The port.
        port: u16,
        /// Name and password with a colon between them.
        user: Option<String>,
    },
    /// Why the proxy cannot be used.
    Unusable(String),
}

/// Servers that are requested directly.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Direct {
    All,
    Network(IpNet),
    Address(IpAddr, Option<u16>),
    /// The end of a name, with its point; and whether the name without the point is meant as well.
    Domain(String, bool, Option<u16>),
}

impl Proxies {
    /// Returns the proxies that variables name: `HTTP_PROXY`, `HTTPS_PROXY` and `NO_PROXY`, in capital letters or not.
    pub fn of(variable: impl Fn(&str) -> Option<String>) -> Self {
        let named = |name: &str| {
            let given = |name: &str| variable(name).filter(|value| !value.is_empty());
            given(name).or_else(|| given(&name.to_ascii_lowercase()))
        };
        // A client's field `Proxy` sets HTTP_PROXY in CGI (CVE-2016-5385).
        let is_cgi = variable("REQUEST_METHOD").is_some_and(|value| !value.is_empty());
        let http = if is_cgi { variable("http_proxy").filter(|value| !value.is_empty()) } else { named("HTTP_PROXY") };
        Self {
            http: http.map(|value| Proxy::parse("HTTP_PROXY", &value)),
            https: named("HTTPS_PROXY").map(|value| Proxy::parse("HTTPS_PROXY", &value)),
            direct: named("NO_PROXY").map_or_else(Vec::new, |value| Direct::list(&value)),
        }
    }

    /// Returns the proxy of a server; `None` if it is requested directly.
    #[must_use]
    pub fn find(&self, has_tls: bool, host: &str, port: u16) -> Option<&Proxy> {
        let proxy = if has_tls { self.https.as_ref()? } else { self.http.as_ref()? };
        let host = host.trim_matches(['[', ']']).trim_end_matches('.').to_ascii_lowercase();
        let address: Option<IpAddr> = host.parse().ok();
        let is_here = host == "localhost" || address.is_some_and(|address| address.is_loopback());
        let is_direct = is_here || self.direct.iter().any(|direct| direct.has(&host, address, port));
        (!is_direct).then_some(proxy)
    }

    /// Returns whether no proxy is named.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.http.is_none() && self.https.is_none()
    }
}

impl Proxy {
    fn parse(variable: &str, value: &str) -> Self {
        let unusable = |why: &str| Self::Unusable(format!("cannot use the proxy that {variable} names: {why}"));
        // A host with a port needs no scheme.
        let whole = if value.contains("://") { value.to_owned() } else { format!("http://{value}") };
        let url = match Url::parse(&whole) {
            Ok(url) => url,
            Err(error) => return unusable(&error.to_string()),
        };
        match (url.scheme(), url.host_str()) {
            ("http", Some(host)) => {
                let decoded = |text: &str| percent_decode_str(text).decode_utf8_lossy().into_owned();
                let has_user = !url.username().is_empty() || url.password().is_some();
                let user = || format!("{}:{}", decoded(url.username()), decoded(url.password().unwrap_or_default()));
                Self::Http {
                    host: host.trim_matches(['[', ']']).to_owned(),
                    port: url.port_or_known_default().unwrap_or(80),
                    user: has_user.then(user),
                }
            }
            (scheme, _) => unusable(&format!("'{scheme}' is not supported: use http://HOST:PORT")),
        }
    }

    /// Returns the value of `Proxy-Authorization`, if the proxy has a user.
    #[must_use]
    pub fn authorization(&self) -> Option<String> {
        match self {
            Self::Http { user: Some(user), .. } => Some(format!("Basic {}", BASE64_STANDARD.encode(user))),
            _ => None,
        }
    }
}

impl Direct {
    fn list(value: &str) -> Vec<Self> {
        value.split(',').filter_map(|part| Self::parse(&part.trim().to_ascii_lowercase())).collect()
    }

    fn parse(part: &str) -> Option<Self> {
        if part.is_empty() {
            return None;
        }
        if part == "*" {
            return Some(Self::All);
        }
        if let Ok(network) = part.parse::<IpNet>() {
            return Some(Self::Network(network));
        }
        if let Ok(address) = part.trim_matches(['[', ']']).parse() {
            return Some(Self::Address(address, None));
        }
        let with_port = part.rsplit_once(':').and_then(|(host, port)| Some((host, port.parse::<u16>().ok()?)));
        let (host, port) = with_port.map_or((part, None), |(host, port)| (host, Some(port)));
        if let Ok(address) = host.trim_matches(['[', ']']).parse() {
            return Some(Self::Address(address, port));
        }
        let host = host.strip_prefix('*').filter(|rest| rest.starts_with('.')).unwrap_or(host);
        match host.strip_prefix('.') {
            Some("") => None,
            Some(_) => Some(Self::Domain(host.to_owned(), false, port)),
            None if host.is_empty() => None,
            None => Some(Self::Domain(format!(".{host}"), true, port)),
        }
    }

    fn has(&self, host: &str, address: Option<IpAddr>, port: u16) -> bool {
        let at = |own: &Option<u16>| own.is_none_or(|own| own == port);
        match self {
            Self::All => true,
            Self::Network(network) => address.is_some_and(|address| network.contains(&address)),
            Self::Address(own, own_port) => address == Some(*own) && at(own_port),
            Self::Domain(end, with_itself, own_port) => {
                (host.ends_with(end.as_str()) || (*with_itself && host == &end[1..])) && at(own_port)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proxies(variables: &[(&str, &str)]) -> Proxies {
        Proxies::of(|name| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned()))
    }

    #[test]
    fn the_scheme_of_the_server_chooses_the_proxy() {
        let found = proxies(&[("HTTP_PROXY", "http://ann:p%40s@proxy.test:3128"), ("https_proxy", "secure.test:8443")]);
        let http = found.find(false, "a.test", 80).expect("there is a proxy");
        let expected = Proxy::Http { host: "proxy.test".into(), port: 3128, user: Some("ann:p@s".into()) };
        assert_eq!((http, http.authorization().as_deref()), (&expected, Some("Basic YW5uOnBAcw==")));
        let https = Proxy::Http { host: "secure.test".into(), port: 8443, user: None };
        assert_eq!(found.find(true, "a.test", 443), Some(&https));
        for here in ["localhost", "127.0.0.1", "127.5.5.5", "[::1]", "LOCALHOST"] {
            assert_eq!(found.find(false, here, 80), None, "{here}");
        }
        assert!(proxies(&[]).is_empty() && !found.is_empty());
        let cgi = proxies(&[("HTTP_PROXY", "x:1"), ("REQUEST_METHOD", "GET")]);
        assert!(cgi.is_empty());
    }

    #[test]
    fn servers_may_be_requested_directly() {
        let list = "a.test, .b.test,*.c.test,d.test:81, 10.0.0.0/8,192.0.2.1,[2001:db8::1]:80,";
        let found = proxies(&[("HTTP_PROXY", "p:1"), ("NO_PROXY", list)]);
        let is_direct = |host: &str, port| found.find(false, host, port).is_none();
        let direct = [("a.test", 80), ("x.a.test", 80), ("x.b.test", 80), ("x.c.test", 80), ("d.test", 81)];
        for (host, port) in direct.into_iter().chain([("10.1.2.3", 80), ("192.0.2.1", 9), ("2001:db8::1", 80)]) {
            assert!(is_direct(host, port), "{host}:{port}");
        }
        for (host, port) in [("xa.test", 80), ("b.test", 80), ("d.test", 80), ("192.0.2.2", 80), ("2001:db8::1", 81)] {
            assert!(!is_direct(host, port), "{host}:{port}");
        }
        assert_eq!(proxies(&[("HTTP_PROXY", "p:1"), ("no_proxy", "*")]).find(false, "a.test", 80), None);
    }

    #[test]
    fn a_proxy_that_cannot_be_used_says_why() {
        for value in ["socks5://p:1", "https://p:1", "http://p:99999"] {
            let found = proxies(&[("HTTP_PROXY", value)]);
            let proxy = found.find(false, "a.test", 80);
            assert!(matches!(proxy, Some(Proxy::Unusable(why)) if why.contains("HTTP_PROXY")), "{value}: {proxy:?}");
        }
    }
}
