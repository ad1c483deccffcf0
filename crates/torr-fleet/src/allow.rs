//! The targets that an agent may load, whatever a plan says.

use ipnet::IpNet;
use std::fmt;
use std::net::{IpAddr, SocketAddr};
use torr_net::{Address, address};

/// The limit of a host's name in bytes (RFC 1035, section 2.3.4).
const LONGEST_NAME: usize = 253;

/// The targets that an agent may load. Without rules these are the services on its loopback network.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AllowList(Vec<Rule>);

/// One rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    hosts: Hosts,
    /// The port; `None` for any.
    port: Option<u16>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Hosts {
    /// The addresses that the name has on the agent's machine.
    Named(String),
    Network(IpNet),
}

impl Rule {
    /// Parses `HOST`, `HOST:PORT`, `NETWORK/BITS` or `NETWORK/BITS:PORT`; IPv6 stands in brackets where a port follows.
    ///
    /// # Errors
    /// A line for the user.
    pub fn parse(text: &str) -> Result<Self, String> {
        let wrong = || format!("expected HOST, HOST:PORT or a network such as 10.0.0.0/8, found '{text}'");
        if let Some(network) = network(text) {
            return Ok(Self { hosts: Hosts::Network(network), port: None });
        }
        let (host, port) = match text.rsplit_once(':') {
            Some((host, port)) => (host, Some(port.parse().map_err(|_| wrong())?)),
            None => (text, None),
        };
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        if let Some(network) = network(bare) {
            return Ok(Self { hosts: Hosts::Network(network), port });
        }
        let is_name =
            (1..=LONGEST_NAME).contains(&host.len()) && host.chars().all(|c| c.is_alphanumeric() || "-._".contains(c));
        if is_name { Ok(Self { hosts: Hosts::Named(host.to_owned()), port }) } else { Err(wrong()) }
    }

    fn is_loopback(&self) -> bool {
        match &self.hosts {
            Hosts::Named(name) => crate::nats::is_loopback(name),
            Hosts::Network(network) => network.network().is_loopback() && network.broadcast().is_loopback(),
        }
    }

    fn admits(&self, address: SocketAddr) -> bool {
        let ip = address.ip().to_canonical();
        self.port.is_none_or(|port| port == address.port())
            && match &self.hosts {
                Hosts::Network(network) => network.contains(&ip),
                // By what the name is here: a plan may bring addresses of its own.
                Hosts::Named(name) => address::resolve(name, address.port())
                    .is_ok_and(|addresses| addresses.iter().any(|known| known.ip().to_canonical() == ip)),
            }
    }
}

/// An address or a network.
fn network(text: &str) -> Option<IpNet> {
    text.parse().ok().or_else(|| text.parse::<IpAddr>().ok().map(IpNet::from))
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.hosts, self.port) {
            (Hosts::Named(name), None) => f.write_str(name),
            (Hosts::Named(name), Some(port)) => write!(f, "{name}:{port}"),
            (Hosts::Network(network), None) => network.fmt(f),
            (Hosts::Network(IpNet::V6(network)), Some(port)) => write!(f, "[{network}]:{port}"),
            (Hosts::Network(network), Some(port)) => write!(f, "{network}:{port}"),
        }
    }
}

impl AllowList {
    /// Returns the list of these rules.
    pub fn new(rules: Vec<Rule>) -> Self {
        Self(rules)
    }

    /// Returns the number of rules.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether a target beyond the loopback network is allowed.
    pub fn goes_beyond_loopback(&self) -> bool {
        !self.0.iter().all(Rule::is_loopback)
    }

    /// Returns the rules as their user would write them.
    pub fn shown(&self) -> Vec<String> {
        match self.0.is_empty() {
            true => vec!["loopback".into()],
            false => self.0.iter().map(Rule::to_string).collect(),
        }
    }

    /// Returns the first address that is not allowed. Resolves names, so it may block.
    pub fn refused<'a>(&self, addresses: impl IntoIterator<Item = &'a Address>) -> Option<&'a Address> {
        addresses.into_iter().find(|address| match address {
            Address::Unix(_) => true,
            Address::Tcp(tcp) if self.0.is_empty() => !tcp.ip().to_canonical().is_loopback(),
            Address::Tcp(tcp) => !self.0.iter().any(|rule| rule.admits(*tcp)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(rules: &[&str]) -> AllowList {
        AllowList::new(rules.iter().map(|rule| Rule::parse(rule).unwrap()).collect())
    }

    #[test]
    fn what_is_not_on_the_list_is_refused() {
        for (rules, target, allowed) in [
            (&[][..], "127.0.0.1:80", true),
            (&[], "[::1]:80", true),
            (&[], "[::ffff:127.0.0.1]:80", true),
            (&[], "10.0.0.1:80", false),
            (&["10.0.0.0/8"], "10.1.2.3:80", true),
            (&["10.0.0.0/8"], "127.0.0.1:80", false),
            (&["10.0.0.0/8:8080"], "10.1.2.3:80", false),
            (&["10.0.0.0/8:8080"], "10.1.2.3:8080", true),
            (&["192.0.2.1"], "192.0.2.1:443", true),
            (&["192.0.2.1:443"], "192.0.2.2:443", false),
            (&["[2001:db8::/32]:443"], "[2001:db8::1]:443", true),
            (&["2001:db8::/32"], "[2001:db9::1]:443", false),
            (&["localhost:80"], "127.0.0.1:80", true),
            (&["localhost:80"], "127.0.0.1:81", false),
            (&["localhost"], "192.0.2.1:80", false),
        ] {
            let address = Address::Tcp(target.parse().unwrap());
            assert_eq!(list(rules).refused([&address]).is_none(), allowed, "{rules:?} {target}");
        }
        assert!(list(&[]).refused([&Address::Unix("/x".into())]).is_some());
    }

    #[test]
    fn loopback_is_known() {
        assert!(!list(&[]).goes_beyond_loopback() && !list(&["127.0.0.0/8", "localhost:8080"]).goes_beyond_loopback());
        assert!(list(&["a.test"]).goes_beyond_loopback() && list(&["0.0.0.0/0"]).goes_beyond_loopback());
    }

    #[test]
    fn rules_are_shown_as_they_were_given() {
        for rule in ["a.test", "a.test:80", "10.0.0.0/8", "10.0.0.0/8:80", "[2001:db8::/32]:443"] {
            assert_eq!(Rule::parse(rule).unwrap().to_string(), rule);
        }
        for bad in ["", ":80", "a b", "a:b", "http://a/", "10.0.0.0/99:80"] {
            assert!(Rule::parse(bad).is_err(), "{bad}");
        }
    }
}
