//! Content of forms (application/x-www-form-urlencoded), byte for byte.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// The media type of a form.
pub(crate) const FORM: &str = "application/x-www-form-urlencoded";

/// What a form of a hurl file leaves as it is: unreserved characters (RFC 3986, section 2.3).
const UNRESERVED: AsciiSet = NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Returns a name or a value as a form or a query of a hurl file has it.
pub(crate) fn encoded(text: &str) -> String {
    utf8_percent_encode(text, &UNRESERVED).to_string()
}

/// Returns text between separators percent-decoded, a plus as a space; what is no UTF-8 has replacement characters.
pub(crate) fn lossy(text: &str) -> String {
    percent_decode_str(&text.replace('+', " ")).decode_utf8_lossy().into_owned()
}

/// Returns the names and values of a form; `None` for text that a form of a hurl file would send with other bytes.
pub(crate) fn pairs(text: &str) -> Option<Vec<(String, String)>> {
    let decode = |text: &str| {
        let decoded = percent_decode_str(text).decode_utf8().ok()?.into_owned();
        (encoded(&decoded) == text).then_some(decoded)
    };
    let pair = |pair: &str| {
        let (name, value) = pair.split_once('=')?;
        Some((decode(name).filter(|name| !name.is_empty())?, decode(value)?))
    };
    text.split('&').map(pair).collect()
}
