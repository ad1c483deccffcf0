//! The elements of a `Forwarded` field from the last to the first: RFC 7239, section 4.
//!
//! Elements are split off at the right, so that nothing left of an element, such as a client's lone quotation mark, changes
//! its meaning.

use torr_wire::is_token;

/// The parameters that one proxy added.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Element<'h> {
    /// The parameter `for`.
    pub client: Option<&'h [u8]>,
    pub proto: Option<&'h [u8]>,
    pub host: Option<&'h [u8]>,
}

/// An iterator over elements, with `None` for a malformed one.
pub(super) struct Elements<'h>(Option<&'h [u8]>);

impl<'h> Elements<'h> {
    pub fn of(value: &'h [u8]) -> Self {
        Self(Some(value))
    }
}

impl<'h> Iterator for Elements<'h> {
    type Item = Option<Element<'h>>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let text = self.0.take()?;
            let comma = last_comma(text);
            self.0 = comma.map(|at| &text[..at]);
            let element = text[comma.map_or(0, |at| at + 1)..].trim_ascii();
            // Empty members of a list are ignored (RFC 9110, section 5.6.1.2).
            if !element.is_empty() {
                return Some(Element::parse(element));
            }
        }
    }
}

/// Returns the position of the last comma outside of quotation marks, searched from the end, where nothing is quoted.
fn last_comma(text: &[u8]) -> Option<usize> {
    let mut quoted = false;
    for (at, &byte) in text.iter().enumerate().rev() {
        match byte {
            b',' if !quoted => return Some(at),
            b'"' if quoted => {
                let escapes = text[..at].iter().rev().take_while(|&&byte| byte == b'\\').count();
                quoted = escapes % 2 == 1;
            }
            b'"' => quoted = true,
            _ => {}
        }
    }
    None
}

impl<'h> Element<'h> {
    fn parse(mut text: &'h [u8]) -> Option<Self> {
        let mut element = Self::default();
        loop {
            text = text.trim_ascii_start();
            let Some(&first) = text.first() else { return Some(element) };
            if first == b';' {
                text = &text[1..];
                continue;
            }
            let (name, rest) = text.split_at(text.iter().position(|&byte| byte == b'=')?);
            let (value, rest) = value(&rest[1..])?;
            let parameter = match name {
                _ if name.eq_ignore_ascii_case(b"for") => &mut element.client,
                _ if name.eq_ignore_ascii_case(b"proto") => &mut element.proto,
                _ if name.eq_ignore_ascii_case(b"host") => &mut element.host,
                _ if !name.is_empty() && name.iter().all(|&byte| is_token(byte)) => &mut None,
                _ => return None,
            };
            // A parameter that occurs twice is malformed.
            if parameter.replace(value).is_some() {
                return None;
            }
            text = match rest.trim_ascii_start() {
                [] => return Some(element),
                [b';', rest @ ..] => rest,
                _ => return None,
            };
        }
    }
}

/// Returns a value and the rest of the text. Escapes in a quoted string are kept: no address, scheme or host needs any.
fn value(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let Some(quoted) = text.strip_prefix(b"\"") else {
        // More than a token, since many proxies do not quote addresses with a port or brackets.
        let sound = |byte: u8| is_token(byte) || b":[]/".contains(&byte);
        let end = text.iter().position(|&byte| !sound(byte)).unwrap_or(text.len());
        return (end > 0).then(|| text.split_at(end));
    };
    let mut escaped = false;
    let end = quoted.iter().position(|&byte| {
        let ends = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        ends
    })?;
    Some((&quoted[..end], &quoted[end + 1..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn elements(text: &str) -> Vec<Option<Element<'_>>> {
        Elements::of(text.as_bytes()).collect()
    }

    fn client(text: &str) -> Option<Element<'_>> {
        Some(Element { client: Some(text.as_bytes()), ..Element::default() })
    }

    #[test]
    fn the_examples_of_the_rfc() {
        assert_eq!(elements("for=\"_gazonk\""), [client("_gazonk")]);
        assert_eq!(elements("For=\"[2001:db8:cafe::17]:4711\""), [client("[2001:db8:cafe::17]:4711")]);
        assert_eq!(elements("for=192.0.2.43, for=198.51.100.17"), [client("198.51.100.17"), client("192.0.2.43")]);
        let all = Element { client: Some(b"192.0.2.60"), proto: Some(b"http"), host: None };
        assert_eq!(elements("for=192.0.2.60;proto=http;by=203.0.113.43"), [Some(all)]);
    }

    #[test]
    fn what_is_written_in_another_way() {
        assert_eq!(elements(" ,, for=a , ,"), [client("a")]);
        assert_eq!(elements("for=a ; by=b;;"), [client("a")]);
        assert_eq!(elements("for=1.2.3.4:80,for=[::1]"), [client("[::1]"), client("1.2.3.4:80")]);
        assert_eq!(elements(r#"by="a\",b;\\";for=a"#), [client("a")]);
        assert_eq!(elements(""), []);
    }

    #[test]
    fn malformed_elements() {
        for text in
            ["for", "for=", "=a", "for=a b", "for=a;for=b", "for=\"a", "for=a\"", "for=\"a\"b", "f r=a", "for=a\\"]
        {
            assert_eq!(elements(text), [None], "{text}");
        }
    }

    #[test]
    fn what_stands_left_changes_nothing() {
        for left in ["\"", "for=\"", "for=x;a=\"", "\\", "for=\"\\", "for=\"a\\\\\\\""] {
            for last in ["for=a", "for=\"a\""] {
                assert_eq!(elements(&format!("{left}, {last}"))[0], client("a"), "{left}, {last}");
            }
        }
    }
}
