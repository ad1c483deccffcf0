//! Multipart forms that a hurl file cannot express part by part, written out as text.

use crate::parts::{pair, push};
use torr_session::hurl::ast::{Body, Piece, Request, Template, TextHint};

/// A part with text.
pub(crate) struct Part {
    pub(crate) name: Template,
    pub(crate) value: Template,
    /// The media type; empty for none.
    pub(crate) content_type: String,
}

/// Writes a form out as the content of a request. `field` and `kind` are the field of its media type, `values` are the values that are
/// known: the boundary is no part of them.
pub(crate) fn write_out((field, kind): (&str, &str), parts: Vec<Part>, values: &str, request: &mut Request) {
    let mut boundary = "torr-part".to_owned();
    while values.contains(&boundary) {
        boundary.push('-');
    }
    let mut text = Template::default();
    for Part { name, value, content_type } in parts {
        push(&mut text.0, Piece::Text(format!("--{boundary}\r\nContent-Disposition: form-data; name=\"")));
        name.0.into_iter().for_each(|piece| push(&mut text.0, piece));
        let media_type = match content_type.as_str() {
            "" => String::new(),
            media_type => format!("Content-Type: {media_type}\r\n"),
        };
        push(&mut text.0, Piece::Text(format!("\"\r\n{media_type}\r\n")));
        value.0.into_iter().for_each(|piece| push(&mut text.0, piece));
        push(&mut text.0, Piece::Text("\r\n".to_owned()));
    }
    push(&mut text.0, Piece::Text(format!("--{boundary}--\r\n")));
    let kind = format!("{kind}; boundary={boundary}");
    request.headers.push(pair(field, kind.as_str().into()));
    request.body = Some(Body::Text { text, hint: TextHint::Plain });
}
