//! Multipart forms (RFC 7578).

use super::RequestError;
use super::escape::Escape;
use super::options::{Content, Part};
use super::template::{Parser, Template};
use http::HeaderValue;

/// A form's body and its media type.
pub(super) fn compose(parts: &[Part], parser: &mut Parser<'_>) -> Result<(Template, String), RequestError> {
    // So many random bits do not come up in a part by chance.
    let boundary = format!("torr-{:032x}", fastrand::u128(..));
    let mut body = Template::default();
    for part in parts {
        let bad = |why: &str| RequestError::Form { part: part.name.clone(), why: why.to_owned() };
        body.push(&Template::from(&*format!("--{boundary}\r\n")));
        body.push(&Template::from(&*format!("Content-Disposition: form-data; name=\"{}\"", quoted(&part.name))));
        if let Some(name) = &part.file_name {
            body.push(&Template::from(&*format!("; filename=\"{}\"", quoted(name))));
        }
        if let Some(media_type) = &part.media_type {
            HeaderValue::from_str(media_type).map_err(|_| bad("invalid media type"))?;
            body.push(&Template::from(&*format!("\r\nContent-Type: {media_type}")));
        }
        body.push_bytes(b"\r\n\r\n");
        match &part.content {
            Content::Text(text) => body.push(&parser.parse(text, Escape::Nothing)?),
            Content::File(bytes) => body.push_bytes(bytes),
        }
        body.push_bytes(b"\r\n");
    }
    body.push(&Template::from(&*format!("--{boundary}--\r\n")));
    Ok((body, format!("multipart/form-data; boundary={boundary}")))
}

/// A name within quotes, as browsers write it.
fn quoted(name: &str) -> String {
    name.replace('"', "%22").replace('\r', "%0D").replace('\n', "%0A")
}
