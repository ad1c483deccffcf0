//! Content of forms (application/x-www-form-urlencoded), byte for byte.

use crate::parts::push;
use percent_encoding::{percent_decode_str, utf8_percent_encode};
use torr_session::hurl::ast::{Filter, KeyValue, Piece, Source, Template};
use torr_wire::percent::COMPONENT;
use url::form_urlencoded::byte_serialize;

/// The media type of a form.
pub(crate) const FORM: &str = "application/x-www-form-urlencoded";

/// The escapes of a value that is known only in the run. A number that a response gave is no text yet.
pub(crate) const ESCAPES: [Filter; 2] = [Filter::ToText, Filter::UrlEncode];

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

/// Whether a form of a hurl file has the same escapes for a text as programs of JavaScript.
pub(crate) fn is_serialized_alike(text: &str) -> bool {
    byte_serialize(text.as_bytes()).collect::<String>() == encoded(text)
}

/// Returns a form as programs of JavaScript write it (URL Standard, section 5.2), with these filters for a value that is known only in
/// the run.
pub(crate) fn serialized(pairs: Vec<KeyValue>, escapes: &[Filter]) -> Template {
    let mut text = Template::default();
    for (at, KeyValue { name, value, .. }) in pairs.into_iter().enumerate() {
        if at > 0 {
            push(&mut text.0, Piece::Text("&".to_owned()));
        }
        let piece = |piece: Piece| serialized_piece(piece, escapes);
        name.0.into_iter().map(piece).for_each(|piece| push(&mut text.0, piece));
        push(&mut text.0, Piece::Text("=".to_owned()));
        value.0.into_iter().map(piece).for_each(|piece| push(&mut text.0, piece));
    }
    text
}

fn serialized_piece(piece: Piece, escapes: &[Filter]) -> Piece {
    match piece {
        Piece::Text(text) => Piece::Text(byte_serialize(text.as_bytes()).collect()),
        Piece::Placeholder(mut expression) => {
            if expression.source != Source::NewUuid {
                expression.filters.extend_from_slice(escapes);
            }
            Piece::Placeholder(expression)
        }
    }
}
