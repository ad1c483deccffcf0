//! The grammar of an authority: a host with an optional port, as in `Host` and in some request targets.

use std::net::Ipv6Addr;

/// Returns whether the bytes are a valid value of `Host` or `:authority`: a host, which may be empty, and an optional port.
pub fn is_valid(authority: &[u8]) -> bool {
    split(authority).is_some()
}

/// Splits `uri-host [ ":" port ]` (RFC 9110, section 7.2) into host and port, either of which may be empty.
///
/// `None` for anything else: a path, user information, a list, or a port above 65535.
#[inline]
pub(crate) fn split(authority: &[u8]) -> Option<(&[u8], &[u8])> {
    let (host, rest) = authority.split_at(host_len(authority)?);
    match rest {
        [] => Some((host, rest)),
        [b':', port @ ..] if is_port(port) => Some((host, port)),
        _ => None,
    }
}

/// Returns whether the bytes are empty or a decimal number of 16 bits.
#[inline]
fn is_port(digits: &[u8]) -> bool {
    let all = digits.iter().all(u8::is_ascii_digit);
    all && (digits.len() < 5 || std::str::from_utf8(digits).is_ok_and(|text| text.parse::<u16>().is_ok()))
}

/// Returns the length of the host at the front: a name, an IPv4 address, or an IPv6 address in brackets (RFC 3986, section
/// 3.2.2). `None` if the brackets hold no IPv6 address.
#[inline]
fn host_len(authority: &[u8]) -> Option<usize> {
    if let [b'[', rest @ ..] = authority {
        let len = rest.iter().position(|&b| b == b']')?;
        std::str::from_utf8(&rest[..len]).ok()?.parse::<Ipv6Addr>().ok()?;
        return Some(len + 2);
    }
    let mut len = 0;
    loop {
        len += match &authority[len..] {
            [b, ..] if is_name(*b) => 1,
            [b'%', high, low, ..] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => 3,
            _ => return Some(len),
        };
    }
}

/// Returns whether the byte is one of `unreserved` or `sub-delims` (RFC 3986, section 2).
#[inline]
fn is_name(b: u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.' | b'_' | b'~' | b'!' | b'$' | b'&'..=b',' | b';' | b'=')
}

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn hosts_and_ports() {
        for (authority, host, port) in [
            ("", "", ""),
            ("x", "x", ""),
            ("x:", "x", ""),
            (":80", "", "80"),
            ("a-b.c_d~:80", "a-b.c_d~", "80"),
            ("!$&'()*+,;=", "!$&'()*+,;=", ""),
            ("%c3%A9.x:1", "%c3%A9.x", "1"),
            ("127.0.0.1:8080", "127.0.0.1", "8080"),
            ("[::1]", "[::1]", ""),
            ("[::ffff:127.0.0.1]:80", "[::ffff:127.0.0.1]", "80"),
            ("x:65535", "x", "65535"),
            ("x:0000080", "x", "0000080"),
        ] {
            assert_eq!(split(authority.as_bytes()), Some((host.as_bytes(), port.as_bytes())), "{authority:?}");
        }
    }

    #[test]
    fn a_port_is_one_of_tcp() {
        for authority in ["x:65536", "x:65616", "x:18446744073709551696", "x:-80", "x:8o"] {
            assert_eq!(split(authority.as_bytes()), None, "{authority:?}");
        }
    }
}
