//! The origins that a watcher without a token accepts: programs on this machine, but no web page.
//!
//! A page of any site can make a browser on this machine send requests to a port of the loopback network, and read the
//! responses if the site's name has been made to resolve to 127.0.0.1 meanwhile (DNS rebinding). The browser still sends the
//! site's name in `Host`, and its origin in `Origin`: neither is a name of the loopback network.

use std::net::IpAddr;
use torr_serve::Request;

/// The hosts that requests to a watcher without a token may name.
#[derive(Debug)]
pub struct Names {
    /// The host of `--listen`, which may be a name that resolves to the loopback network.
    own: String,
}

/// The reason to refuse a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Foreign {
    /// `Host` names another server, or none.
    Host,
    /// `Origin` is that of a page elsewhere.
    Origin,
}

impl Foreign {
    /// 421 (RFC 9110, section 15.5.20) or 403.
    pub fn status(self) -> u16 {
        match self {
            Self::Host => 421,
            Self::Origin => 403,
        }
    }

    pub fn line(self) -> &'static str {
        match self {
            Self::Host => {
                "without a token, Host must be a loopback address, localhost or the name in --listen: for other names \
                 set TORR_WATCH_TOKEN here and for the client"
            }
            Self::Origin => "requests from web pages need a token",
        }
    }
}

impl Names {
    /// Those of a watcher that listens on `listen`, a host with a port.
    pub fn new(listen: &str) -> Self {
        let host = listen.rsplit_once(':').map_or(listen, |(host, _)| host);
        Self { own: host.to_ascii_lowercase() }
    }

    /// Checks `Host` and `Origin` of a request.
    ///
    /// # Errors
    /// [`Foreign`].
    pub fn check(&self, request: &Request<'_>) -> Result<(), Foreign> {
        let host = request.header("Host").and_then(|value| std::str::from_utf8(value).ok());
        if !host.is_some_and(|authority| self.has(authority)) {
            return Err(Foreign::Host);
        }
        let is_ours = |origin: &[u8]| {
            let origin = std::str::from_utf8(origin).ok()?;
            let authority = ["http://", "https://"].into_iter().find_map(|scheme| origin.strip_prefix(scheme))?;
            Some(self.has(authority))
        };
        let mut origins = request.headers().filter(|(name, _)| name.eq_ignore_ascii_case("Origin"));
        if origins.any(|(_, origin)| is_ours(origin) != Some(true)) { Err(Foreign::Origin) } else { Ok(()) }
    }

    /// Whether a host, with a port or without, is the loopback network's or the watcher's own. The port may be any: a
    /// tunnel has one of its own.
    fn has(&self, authority: &str) -> bool {
        let bracketed = || Some(authority.strip_prefix('[')?.split_once(']')?.0);
        let host = bracketed().unwrap_or_else(|| authority.split(':').next().unwrap_or_default());
        let host = host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase();
        let is_loopback = |address: IpAddr| address.to_canonical().is_loopback();
        host == "localhost" || host == self.own || host.parse().is_ok_and(is_loopback)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_the_loopback_network_and_the_own() {
        let names = Names::new("Watcher.Test:9300");
        for good in [
            "127.0.0.1",
            "127.0.0.1:9300",
            "127.8.9.1:1",
            "localhost",
            "LOCALHOST:9400",
            "localhost.:80",
            "[::1]:9300",
            "[::ffff:127.0.0.1]",
            "watcher.test:9300",
        ] {
            assert!(names.has(good), "{good}");
        }
        for bad in [
            "",
            ":9300",
            "evil.test",
            "evil.test:9300",
            "localhost.evil.test",
            "127.0.0.1.evil.test",
            "127.1",
            "2130706433",
            "10.0.0.5",
            "[::2]:80",
            "0.0.0.0:9300",
            "evil.test@127.0.0.1",
            "[127.0.0.1",
        ] {
            assert!(!names.has(bad), "{bad}");
        }
    }
}
