//! Bodies: forms, JSON and multipart forms.

use super::RequestError;
use super::encoder::Encoder;
use super::escape::Escape;
use super::multipart;
use super::options::{Body, Data};
use super::template::{Parser, Template};

const FORM: &str = "application/x-www-form-urlencoded";

/// Content and its media type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Composed {
    pub content: Template,
    pub media_type: String,
    /// Whether the user may not replace `media_type`, since it has the boundary of the parts.
    pub is_fixed: bool,
    /// What makes the content of the text, if that is not sent as it is.
    pub encoder: Option<Encoder>,
}

/// Composes the content of the options. `says_json` is whether a header field declares it as JSON.
pub(super) fn compose(body: &Body, says_json: bool, parser: &mut Parser<'_>) -> Result<Composed, RequestError> {
    let media_type = if matches!(body, Body::Json(_)) { "application/json" } else { FORM };
    let plain = |content| Composed { content, media_type: media_type.into(), is_fixed: false, encoder: None };
    match body {
        Body::Data(data) => Ok(plain(join(data, escape(says_json), parser)?)),
        Body::Json(json) => Ok(plain(parser.parse_bytes(json, Escape::Json)?)),
        Body::Multipart(parts) => {
            let (content, media_type) = multipart::compose(parts, parser)?;
            Ok(Composed { content, media_type, is_fixed: true, encoder: None })
        }
        Body::Encoded { text, encoder, media_type } => Ok(Composed {
            content: parser.parse_bytes(text, Escape::Json)?,
            media_type: media_type.clone(),
            is_fixed: true,
            encoder: Some(encoder.clone()),
        }),
    }
}

/// Makes the body of one URL in a list.
pub(super) fn text(text: &str, says_json: bool, parser: &mut Parser<'_>) -> Result<Composed, RequestError> {
    let content = parser.parse(text, escape(says_json))?;
    Ok(Composed { content, media_type: FORM.into(), is_fixed: false, encoder: None })
}

/// Pieces with `&` between them. Values in plain pieces are escaped by `plain`.
pub(super) fn join(data: &[Data], plain: Escape, parser: &mut Parser<'_>) -> Result<Template, RequestError> {
    let mut joined = Template::default();
    for (at, piece) in data.iter().enumerate() {
        if at > 0 {
            joined.push_bytes(b"&");
        }
        match piece {
            Data::Plain(bytes) => joined.push(&parser.parse_bytes(bytes, plain)?),
            Data::Encoded { name, content } => {
                if let Some(name) = name {
                    joined.push(&parser.parse(name, Escape::Component)?);
                    joined.push_bytes(b"=");
                }
                joined.push(&parser.parse_escaped(content, Escape::Component)?);
            }
        }
    }
    Ok(joined)
}

fn escape(says_json: bool) -> Escape {
    if says_json { Escape::Json } else { Escape::Nothing }
}
