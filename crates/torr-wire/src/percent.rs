//! The characters that parts of a URL percent-encode (RFC 3986), and what a part of a form stands for.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str};

/// The characters that a segment of a path, and a name or a value of a query or a form, encode: all but the unreserved ones
/// (section 2.3).
pub const COMPONENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The characters that a path encodes (section 3.3). The slashes between its segments stay.
pub const PATH: &AsciiSet = &COMPONENT
    .remove(b'/')
    .remove(b':')
    .remove(b'@')
    .remove(b'!')
    .remove(b'$')
    .remove(b'&')
    .remove(b'\'')
    .remove(b'(')
    .remove(b')')
    .remove(b'*')
    .remove(b'+')
    .remove(b',')
    .remove(b';')
    .remove(b'=');

/// The characters that a query encodes where all reserved ones stay (section 2.2) but `#`, which would end the query.
pub const RESERVED_QUERY: &AsciiSet = &PATH.remove(b'?').remove(b'[').remove(b']');

/// Returns what a name or a value of a form or a query stands for (`application/x-www-form-urlencoded`, WHATWG URL, section 5.1): a plus is
/// a space, and what is no UTF-8 has replacement characters.
pub fn form_decoded(part: &str) -> String {
    percent_decode_str(&part.replace('+', " ")).decode_utf8_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plus_is_a_space_and_an_encoded_one_a_plus() {
        for (part, text) in [("a+b%2Bc", "a b+c"), ("%C3%A4%zz", "\u{e4}%zz"), ("%ff", "\u{fffd}"), ("", "")] {
            assert_eq!(form_decoded(part), text);
        }
    }
}
