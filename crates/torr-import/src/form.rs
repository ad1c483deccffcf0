//! Content of forms (application/x-www-form-urlencoded), byte for byte.

use percent_encoding::{percent_decode_str, utf8_percent_encode};
use torr_wire::percent::COMPONENT;

/// The media type of a form.
pub(crate) const FORM: &str = "application/x-www-form-urlencoded";

/// Returns a name or a value as a form or a query of a hurl file has it.
pub(crate) fn encoded(text: &str) -> String {
    utf8_percent_encode(text, COMPONENT).to_string()
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
