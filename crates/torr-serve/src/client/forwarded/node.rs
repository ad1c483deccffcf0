//! One address as proxies write it: RFC 7239, section 6, and the other forms found in `X-Forwarded-For`.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// A proxy's identification of its client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Node {
    /// An address, with port 0 if the proxy sends no port.
    Address(SocketAddr),
    /// `unknown`, or an obfuscated name.
    Hidden,
    /// Text that is not an identification.
    Malformed,
}

impl Node {
    pub fn parse(text: &[u8]) -> Self {
        std::str::from_utf8(text).ok().and_then(node).unwrap_or(Self::Malformed)
    }
}

fn node(text: &str) -> Option<Node> {
    if let Some(rest) = text.strip_prefix('[') {
        let (ip, rest) = rest.split_once(']')?;
        let port = if rest.is_empty() { 0 } else { port(rest.strip_prefix(':')?)? };
        return Some(Node::Address(canonical(ip.parse::<Ipv6Addr>().ok()?.into(), port)));
    }
    // Without brackets: not valid in RFC 7239, but usual in X-Forwarded-For.
    if let Ok(ip) = text.parse::<Ipv6Addr>() {
        return Some(Node::Address(canonical(ip.into(), 0)));
    }
    let (name, port) = match text.split_once(':') {
        Some((name, text)) => (name, port(text)?),
        None => (text, 0),
    };
    if name.eq_ignore_ascii_case("unknown") || is_obfuscated(name) {
        return Some(Node::Hidden);
    }
    Some(Node::Address(canonical(name.parse::<Ipv4Addr>().ok()?.into(), port)))
}

/// Parses a port. An obfuscated one is 0, as none.
fn port(text: &str) -> Option<u16> {
    if is_obfuscated(text) {
        return Some(0);
    }
    // The library accepts a sign, which is not valid here.
    text.parse().ok().filter(|_| text.bytes().all(|byte| byte.is_ascii_digit()))
}

fn is_obfuscated(text: &str) -> bool {
    let sound = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    text.strip_prefix('_').is_some_and(|rest| !rest.is_empty() && rest.bytes().all(sound))
}

/// Returns the address with IPv4-mapped IPv6 as IPv4.
fn canonical(ip: IpAddr, port: u16) -> SocketAddr {
    SocketAddr::new(ip.to_canonical(), port)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_in_all_their_forms() {
        for (text, is) in [
            ("192.0.2.43", "192.0.2.43:0"),
            ("192.0.2.43:47011", "192.0.2.43:47011"),
            ("192.0.2.43:_x", "192.0.2.43:0"),
            ("[2001:db8:cafe::17]", "[2001:db8:cafe::17]:0"),
            ("[2001:db8:cafe::17]:4711", "[2001:db8:cafe::17]:4711"),
            ("2001:db8:cafe::17", "[2001:db8:cafe::17]:0"),
            ("::ffff:192.0.2.1", "192.0.2.1:0"),
            ("[::ffff:192.0.2.1]:80", "192.0.2.1:80"),
        ] {
            let is: SocketAddr = is.parse().expect("it is an address");
            assert_eq!(Node::parse(text.as_bytes()), Node::Address(is), "{text}");
        }
    }

    #[test]
    fn names_that_only_the_proxy_knows() {
        for text in ["unknown", "UNKNOWN", "unknown:80", "unknown:_p", "_hidden", "_SEVKISEK.x-1", "_a:_b"] {
            assert_eq!(Node::parse(text.as_bytes()), Node::Hidden, "{text}");
        }
    }

    #[test]
    fn what_is_no_address() {
        for text in [
            "",
            " ",
            "_",
            "a",
            "localhost",
            "1.2.3",
            "1.2.3.4.5",
            "01.2.3.4",
            "1.2.3.4:",
            "1.2.3.4:65536",
            "1.2.3.4:+80",
            "1.2.3.4:80:80",
            "1.2.3.4 ",
            "[::1",
            "[::1]80",
            "[::1]:",
            "[1.2.3.4]",
            "[fe80::1%eth0]",
            "fe80::1%eth0",
            "unknown:x",
            "_a b",
            "1.2.3.4\\",
        ] {
            assert_eq!(Node::parse(text.as_bytes()), Node::Malformed, "{text}");
        }
        assert_eq!(Node::parse(b"\xff"), Node::Malformed);
    }
}
