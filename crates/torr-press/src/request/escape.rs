//! The escaping of a value for its position: a path, a query, a header, JSON, or none.

use http::HeaderValue;
use percent_encoding::{AsciiSet, CONTROLS, percent_encode};
use std::borrow::Cow;
use torr_wire::percent::{COMPONENT, PATH};

/// The position of a value in a request, which decides how the value is escaped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Escape {
    /// Anywhere that takes all bytes.
    Nothing,
    /// In a path.
    Path,
    /// In a query, or in a form that is written like one.
    Component,
    /// In a header, which some characters cannot stand in at all.
    Header,
    /// Inside of a JSON text: in a string, or as a number.
    Json,
}

impl Escape {
    /// The text as it is written there.
    pub fn write(self, text: &str) -> Result<Cow<'_, [u8]>, &'static str> {
        Ok(match self {
            Self::Nothing => Cow::Borrowed(text.as_bytes()),
            Self::Path => encode(text, PATH),
            Self::Component => encode(text, COMPONENT),
            Self::Header => match HeaderValue::from_bytes(text.as_bytes()) {
                Ok(_) => Cow::Borrowed(text.as_bytes()),
                Err(_) => return Err("a header must not contain line breaks or control characters"),
            },
            Self::Json => {
                let quoted = serde_json::Value::from(text).to_string();
                Cow::Owned(quoted.as_bytes()[1..quoted.len() - 1].to_vec())
            }
        })
    }
}

/// A part of a URL as it was given, with what is not ASCII encoded.
pub(super) fn ascii(text: &[u8]) -> Vec<u8> {
    encode_bytes(text, CONTROLS).into_owned()
}

/// A part of a URL in ASCII, with what the `http` crate does not take in a path or a query encoded.
pub(super) fn uri(text: &[u8]) -> Vec<u8> {
    const REFUSED: &AsciiSet = &CONTROLS.add(b'"').add(b'<').add(b'>').add(b'`');
    encode_bytes(text, REFUSED).into_owned()
}

fn encode(text: &str, set: &'static AsciiSet) -> Cow<'static, [u8]> {
    Cow::Owned(encode_bytes(text.as_bytes(), set).into_owned())
}

fn encode_bytes<'t>(bytes: &'t [u8], set: &'static AsciiSet) -> Cow<'t, [u8]> {
    match Cow::from(percent_encode(bytes, set)) {
        Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
        Cow::Owned(text) => Cow::Owned(text.into_bytes()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_escaped_for_its_position() {
        for (escape, text, written) in [
            (Escape::Nothing, "a b/%&\"\n", "a b/%&\"\n"),
            (Escape::Path, "a b/c?d#e%20&f=ö", "a%20b/c%3Fd%23e%2520&f=%C3%B6"),
            (Escape::Component, "a b/c?d&e=f+~", "a%20b%2Fc%3Fd%26e%3Df%2B~"),
            (Escape::Header, "a b; \"c\" ö", "a b; \"c\" ö"),
            (Escape::Json, "a \"b\"\\\n5", "a \\\"b\\\"\\\\\\n5"),
        ] {
            let got = escape.write(text).unwrap_or_else(|why| panic!("{escape:?} {text:?}: {why}"));
            assert_eq!(String::from_utf8_lossy(&got), written, "{escape:?} {text:?}");
        }
        // Whatever a URL may have is taken in HTTP/2.
        let printable: Vec<u8> = (0x21..0x7f).filter(|byte| *byte != b'#').collect();
        let target = [b"/", &printable[..], b"?", &printable].concat();
        assert!(http::uri::PathAndQuery::try_from(uri(&target)).is_ok());
        assert!(Escape::Header.write("a\r\nb: c").is_err());
        assert!(Escape::Header.write("a\0").is_err());
    }
}
