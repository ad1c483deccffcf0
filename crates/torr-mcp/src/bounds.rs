//! What an assistant may load, and how hard.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;
use std::time::Duration;
use torr_press::Target;

/// What an assistant may load, and how hard. This machine's loopback is always allowed.
#[derive(Debug, Clone)]
pub struct Bounds {
    /// Further servers.
    pub allowed: Vec<Allowed>,
    /// The longest run or budget.
    pub longest: Duration,
    /// The highest request rate; `None` without a limit.
    pub max_rate: Option<f64>,
    /// The most connections.
    pub max_connections: u64,
}

/// A server that may be loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Allowed {
    host: String,
    /// The port; `None` for all ports.
    port: Option<u16>,
}

impl FromStr for Allowed {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = || format!("expected HOST or HOST:PORT, found '{text}'");
        let (host, port) = match text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            Some((host, "")) => (host, None),
            Some((host, port)) => (host, Some(port.strip_prefix(':').ok_or_else(wrong)?)),
            // More than one colon is an IPv6 address without brackets.
            None => match text.split_once(':').filter(|(_, port)| !port.contains(':')) {
                Some((host, port)) => (host, Some(port)),
                None => (text, None),
            },
        };
        let is_host = |c: char| c.is_ascii_alphanumeric() || ".-_:".contains(c);
        let port = port.map(|port| port.parse().ok().filter(|port| *port > 0).ok_or_else(wrong)).transpose()?;
        match host.is_empty() || !host.chars().all(is_host) {
            true => Err(wrong()),
            false => Ok(Self { host: host.to_ascii_lowercase(), port }),
        }
    }
}

impl fmt::Display for Allowed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let host = if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.clone() };
        match self.port {
            Some(port) => write!(f, "{host}:{port}"),
            None => f.write_str(&host),
        }
    }
}

impl Bounds {
    /// Returns whether a URL may be loaded because the user has named its server, and not only because it is this machine's loopback.
    ///
    /// # Errors
    /// If it is no URL of HTTP, or its server may not be loaded.
    pub(crate) fn check(&self, url: &str) -> Result<bool, String> {
        let target = Target::parse(url).map_err(|error| error.to_string())?;
        let host = target.host.trim_start_matches('[').trim_end_matches(']').to_ascii_lowercase();
        let is_named = |allowed: &Allowed| allowed.host == host && allowed.port.is_none_or(|port| port == target.port);
        if self.allowed.iter().any(is_named) {
            return Ok(true);
        }
        let is_loopback = host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
        match is_loopback {
            true => Ok(false),
            false => Err(format!(
                "{} may not be loaded: the user can allow it with 'torr mcp --allow {host}'",
                target.host_and_port()
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bounds(allowed: &[&str]) -> Bounds {
        let allowed = allowed.iter().map(|text| text.parse().expect("it is a server")).collect();
        Bounds { allowed, longest: Duration::from_secs(60), max_rate: None, max_connections: 10 }
    }

    #[test]
    fn only_the_loopback_and_named_servers_may_be_loaded() {
        let none = bounds(&[]);
        for url in [
            "http://localhost/",
            "http://127.0.0.1:8080/x",
            "https://127.3.2.1/",
            "http://[::1]:80/",
            "http://LOCALHOST:1/",
        ] {
            assert_eq!(none.check(url), Ok(false), "{url}");
        }
        for url in [
            "http://shop.test/",
            "http://10.0.0.1/",
            "http://localhost.evil.test/",
            "http://127.0.0.1.evil.test/",
            "http://[fe80::1]/",
            "http://127.0.0.1@evil.test/",
            "http://evil.test#@localhost/",
            "http://evil.test?@localhost/",
        ] {
            let refused = none.check(url).expect_err(url);
            assert!(refused.contains("may not be loaded") || refused.contains("invalid"), "{url}: {refused}");
        }
        let some = bounds(&["shop.test:8080", "Other.test", "[fd00::1]:443", "fd00::2"]);
        for (url, is_allowed) in [
            ("http://shop.test:8080/", true),
            ("http://shop.test/", false),
            ("https://other.test:9443/", true),
            ("http://sub.other.test/", false),
            ("https://[fd00::1]/", true),
            ("http://[fd00::1]/", false),
            ("http://[fd00::2]:7/", true),
        ] {
            assert_eq!(some.check(url).ok(), is_allowed.then_some(true), "{url}");
        }
    }

    #[test]
    fn a_server_is_a_host_and_perhaps_a_port() {
        for text in ["", "a b", "http://a", "a:", "a:0", "a:70000", "a:b", "[::1", "[::1]x", "a/b", "*"] {
            assert_eq!(text.parse::<Allowed>(), Err(format!("expected HOST or HOST:PORT, found '{text}'")));
        }
        for text in ["a.test", "a.test:80", "[::1]:80", "10.0.0.1"] {
            assert_eq!(text.parse::<Allowed>().map(|allowed| allowed.to_string()).as_deref(), Ok(text));
        }
    }
}
