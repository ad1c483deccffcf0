//! The proxies whose forwarding fields are trusted.

use ipnet::{IpNet, Ipv4Net};
use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;
use thiserror::Error;

/// The setting `trusted_proxies`: addresses, networks, and the words `loopback`, `private` and `unix`, with commas between them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Trusted(Vec<Entry>);

/// The part of a list that is not valid.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("expected an address, a network, loopback, private or unix, found '{0}'")]
pub struct NotTrusted(String);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Entry {
    Network(IpNet),
    /// 127.0.0.0/8 and ::1.
    Loopback,
    /// The networks of RFC 1918 and RFC 4193.
    Private,
    /// All peers on a Unix socket.
    Unix,
}

impl Trusted {
    /// Returns whether no proxy is trusted.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns whether this peer is trusted; `None` is a peer on a Unix socket.
    #[inline]
    pub fn trusts(&self, peer: Option<IpAddr>) -> bool {
        !self.0.is_empty() && self.holds(peer.map(|ip| ip.to_canonical()))
    }

    fn holds(&self, peer: Option<IpAddr>) -> bool {
        self.0.iter().any(|entry| match (entry, peer) {
            (Entry::Network(network), Some(ip)) => network.contains(&ip),
            (Entry::Loopback, Some(ip)) => ip.is_loopback(),
            (Entry::Private, Some(IpAddr::V4(ip))) => ip.is_private(),
            (Entry::Private, Some(IpAddr::V6(ip))) => ip.is_unique_local(),
            (Entry::Unix, peer) => peer.is_none(),
            (_, None) => false,
        })
    }
}

impl FromStr for Trusted {
    type Err = NotTrusted;

    fn from_str(text: &str) -> Result<Self, NotTrusted> {
        if text.trim().is_empty() {
            return Ok(Self::default());
        }
        let entries = text.split(',').map(|part| entry(part.trim()).ok_or_else(|| NotTrusted(part.trim().to_owned())));
        entries.collect::<Result<_, _>>().map(Self)
    }
}

fn entry(text: &str) -> Option<Entry> {
    match text {
        "loopback" => return Some(Entry::Loopback),
        "private" => return Some(Entry::Private),
        "unix" => return Some(Entry::Unix),
        _ => {}
    }
    let network = text.parse().or_else(|_| text.parse::<IpAddr>().map(IpNet::from)).ok()?;
    Some(Entry::Network(canonical(network)))
}

/// Returns an IPv4-mapped IPv6 network as IPv4, the form in which addresses are compared.
fn canonical(network: IpNet) -> IpNet {
    if let IpNet::V6(v6) = network
        && let (Some(ip), Some(bits)) = (v6.addr().to_ipv4_mapped(), v6.prefix_len().checked_sub(96))
        && let Ok(v4) = Ipv4Net::new(ip, bits)
    {
        return v4.trunc().into();
    }
    network.trunc()
}

impl fmt::Display for Trusted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, entry) in self.0.iter().enumerate() {
            f.write_str(if number > 0 { ", " } else { "" })?;
            match entry {
                Entry::Network(network) if network.prefix_len() == network.max_prefix_len() => network.addr().fmt(f)?,
                Entry::Network(network) => network.fmt(f)?,
                Entry::Loopback => f.write_str("loopback")?,
                Entry::Private => f.write_str("private")?,
                Entry::Unix => f.write_str("unix")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trusts(list: &str, peer: &str) -> bool {
        let peer = (peer != "unix").then(|| peer.parse().expect("it is an address"));
        list.parse::<Trusted>().expect("it is a list").trusts(peer)
    }

    #[test]
    fn who_is_trusted() {
        for (list, peer, is) in [
            ("", "127.0.0.1", false),
            ("", "unix", false),
            ("10.0.0.0/8", "10.255.0.1", true),
            ("10.0.0.0/8", "11.0.0.1", false),
            ("10.0.0.0/8", "::ffff:10.0.0.1", true),
            ("::ffff:10.0.0.0/104", "10.1.2.3", true),
            ("::ffff:10.0.0.0/104", "11.1.2.3", false),
            ("::/0", "10.1.2.3", false),
            ("0.0.0.0/0", "unix", false),
            ("1.2.3.4, 2001:db8::/32", "2001:db8:1::5", true),
            ("1.2.3.4, 2001:db8::/32", "1.2.3.4", true),
            ("1.2.3.4, 2001:db8::/32", "1.2.3.5", false),
            ("loopback", "127.8.0.1", true),
            ("loopback", "::1", true),
            ("loopback", "10.0.0.1", false),
            ("private", "192.168.7.7", true),
            ("private", "172.32.0.1", false),
            ("private", "fd00::1", true),
            ("private", "2001:db8::1", false),
            ("unix", "unix", true),
            ("unix", "127.0.0.1", false),
        ] {
            assert_eq!(trusts(list, peer), is, "{list}: {peer}");
        }
    }

    #[test]
    fn a_list_is_shown_as_it_is_read() {
        for (text, shown) in [
            ("", ""),
            ("  ", ""),
            ("10.1.2.3/8,unix ,loopback, private", "10.0.0.0/8, unix, loopback, private"),
            ("1.2.3.4/32", "1.2.3.4"),
            ("::1", "::1"),
            ("2001:db8::1/32", "2001:db8::/32"),
        ] {
            let list: Trusted = text.parse().expect("it is a list");
            assert_eq!(list.to_string(), shown);
            assert_eq!(shown.parse(), Ok(list));
        }
    }

    #[test]
    fn what_is_no_list() {
        for (text, part) in
            [("1.2.3", "1.2.3"), ("1.2.3.4,", ""), ("10.0.0.0/33", "10.0.0.0/33"), ("unix, proxy", "proxy")]
        {
            assert_eq!(text.parse::<Trusted>(), Err(NotTrusted(part.into())), "{text}");
        }
    }
}
