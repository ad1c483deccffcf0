//! Content of requests, and content that responses must have.

use crate::error::EvaluationError;
use crate::files::{Files, read};
use crate::hurl::ast::{self, Body, MultipartPart, TextHint};
use crate::hurl::{ParseError, Position};
use crate::scope::{Names, Variables};
use crate::template::Template;
use bytes::Bytes;
use percent_encoding::utf8_percent_encode;
use std::borrow::Cow;
use std::path::Path;
use torr_wire::percent::COMPONENT;

/// Content, compiled.
#[derive(Debug, Clone)]
pub enum Content {
    /// Bytes that are always the same, and their media type.
    Constant(Bytes, Option<Cow<'static, str>>),
    /// Text, and its media type.
    Text(Template, Option<&'static str>),
    /// A GraphQL request: query and variables.
    GraphQl(Template, Option<Template>),
    /// A form (application/x-www-form-urlencoded).
    Form(Vec<(Template, Template)>),
    /// A multipart form (RFC 7578).
    Multipart(Vec<Part>),
}

/// A part of a multipart form.
#[derive(Debug, Clone)]
pub struct Part {
    name: Template,
    value: PartValue,
}

#[derive(Debug, Clone)]
enum PartValue {
    Text(Template),
    File { name: String, content_type: Template, content: Vec<u8> },
}

/// Returns names and values as a query or a form has them. A space becomes `%20`, as in hurl.
///
/// # Errors
/// If a variable has no value.
pub fn encoded_pairs(pairs: &[(Template, Template)], variables: &Variables) -> Result<String, EvaluationError> {
    let encoded =
        |template: &Template| template.render(variables).map(|text| utf8_percent_encode(&text, COMPONENT).to_string());
    let pairs = pairs.iter().map(|(name, value)| Ok(format!("{}={}", encoded(name)?, encoded(value)?)));
    Ok(pairs.collect::<Result<Vec<_>, _>>()?.join("&"))
}

const JSON: &str = "application/json";
const XML: &str = "application/xml";

impl Content {
    /// Compiles the content of a request: its body if there is one, else its form.
    ///
    /// # Errors
    /// Where an expression is none, or a file cannot be read.
    pub fn of_request(
        request: &ast::Request,
        names: &mut Names,
        files: &dyn Files,
    ) -> Result<Option<Self>, ParseError> {
        Ok(Some(if let Some(body) = &request.body {
            Self::compile(body, request.at, names, files)?
        } else if !request.form.is_empty() {
            let pair = |pair: &ast::KeyValue| {
                Ok((Template::compile(&pair.name, names)?, Template::compile(&pair.value, names)?))
            };
            Self::Form(request.form.iter().map(pair).collect::<Result<_, ParseError>>()?)
        } else if !request.multipart.is_empty() {
            let parts = request.multipart.iter().map(|part| Part::compile(part, names, files));
            Self::of_parts(parts.collect::<Result<_, _>>()?)
        } else {
            return Ok(None);
        }))
    }

    /// Compiles content.
    ///
    /// # Errors
    /// Where an expression is none, or a file cannot be read.
    pub fn compile(body: &Body, at: Position, names: &mut Names, files: &dyn Files) -> Result<Self, ParseError> {
        let text = |template: Template, media_type: Option<&'static str>| match template.literal() {
            Some(text) => Self::Constant(Bytes::copy_from_slice(text.as_bytes()), media_type.map(Cow::Borrowed)),
            None => Self::Text(template, media_type),
        };
        Ok(match body {
            Body::Json(pieces) => text(Template::compile_json(pieces, names)?, Some(JSON)),
            Body::Xml(xml) => text(Template::text(xml), Some(XML)),
            Body::Text { text: given, hint } => {
                let media_type = match hint {
                    TextHint::Plain => None,
                    TextHint::Json => Some(JSON),
                    TextHint::Xml => Some(XML),
                };
                text(Template::compile(given, names)?, media_type)
            }
            Body::GraphQl { query, variables } => {
                let variables = variables.as_ref().map(|pieces| Template::compile_json(pieces, names)).transpose()?;
                Self::GraphQl(Template::compile(query, names)?, variables)
            }
            Body::Bytes(bytes) => Self::Constant(bytes.clone().into(), None),
            Body::File(name) => Self::Constant(read(name, at, files)?.1.into(), None),
        })
    }

    /// Returns a multipart form. One without placeholders is made once, so that all connections send it from the same memory.
    fn of_parts(parts: Vec<Part>) -> Self {
        if parts.iter().all(Part::is_constant)
            && let Ok((bytes, media_type)) = multipart(&parts, &Variables::default())
        {
            return Self::Constant(bytes, media_type.map(Cow::Owned));
        }
        Self::Multipart(parts)
    }

    /// Returns the bytes, and the media type that the content has of itself.
    ///
    /// # Errors
    /// If a variable has no value.
    pub fn build(&self, variables: &Variables) -> Result<(Bytes, Option<String>), EvaluationError> {
        let text = |template: &Template| template.render(variables).map(|text| text.into_owned());
        Ok(match self {
            Self::Constant(bytes, media_type) => (bytes.clone(), media_type.as_deref().map(str::to_owned)),
            Self::Text(template, media_type) => (text(template)?.into(), media_type.map(str::to_owned)),
            Self::GraphQl(query, variables) => {
                let query = serde_json::Value::from(text(query)?.trim());
                let json = match variables {
                    Some(variables) => format!("{{\"query\":{query},\"variables\":{}}}", text(variables)?),
                    None => format!("{{\"query\":{query}}}"),
                };
                (json.into(), Some(JSON.to_owned()))
            }
            Self::Form(pairs) => {
                let form = encoded_pairs(pairs, variables)?;
                (form.into(), Some("application/x-www-form-urlencoded".to_owned()))
            }
            Self::Multipart(parts) => multipart(parts, variables)?,
        })
    }
}

impl Part {
    /// Whether the part has no placeholders.
    fn is_constant(&self) -> bool {
        let (PartValue::Text(other) | PartValue::File { content_type: other, .. }) = &self.value;
        self.name.literal().is_some() && other.literal().is_some()
    }

    fn compile(part: &MultipartPart, names: &mut Names, files: &dyn Files) -> Result<Self, ParseError> {
        Ok(match part {
            MultipartPart::Field(pair) => Self {
                name: Template::compile(&pair.name, names)?,
                value: PartValue::Text(Template::compile(&pair.value, names)?),
            },
            MultipartPart::File { name, file, content_type, at } => {
                let (path, content) = read(file, *at, files)?;
                let content_type = match content_type {
                    Some(content_type) => Template::compile(content_type, names)?,
                    None => Template::text(media_type(&path)),
                };
                let file_name = Path::new(&path).file_name().unwrap_or_default().to_string_lossy().into_owned();
                let value = PartValue::File { name: file_name, content_type, content };
                Self { name: Template::compile(name, names)?, value }
            }
        })
    }
}

/// Returns the media type of a file by its extension, as the format defines.
fn media_type(path: &str) -> &'static str {
    match Path::new(path).extension().and_then(|extension| extension.to_str()) {
        Some("gif") => "image/gif",
        Some("jpg" | "jpeg") => "image/jpeg",
        Some("png") => "image/png",
        Some("svg") => "image/svg+xml",
        Some("txt") => "text/plain",
        Some("htm" | "html") => "text/html",
        Some("pdf") => "application/pdf",
        Some("xml") => "application/xml",
        _ => "application/octet-stream",
    }
}

fn multipart(parts: &[Part], variables: &Variables) -> Result<(Bytes, Option<String>), EvaluationError> {
    // 128 random bits do not occur in a part by chance.
    let boundary = format!("torr-{:032x}", fastrand::u128(..));
    let quoted = |text: &str| text.replace('"', "%22").replace('\r', "%0D").replace('\n', "%0A");
    let mut body = Vec::new();
    for part in parts {
        let name = quoted(&part.name.render(variables)?);
        body.extend_from_slice(format!("--{boundary}\r\nContent-Disposition: form-data; name=\"{name}\"").as_bytes());
        match &part.value {
            PartValue::Text(text) => {
                body.extend_from_slice(b"\r\n\r\n");
                body.extend_from_slice(text.render(variables)?.as_bytes());
            }
            PartValue::File { name, content_type, content } => {
                let (name, content_type) = (quoted(name), content_type.render(variables)?);
                let fields = format!("; filename=\"{name}\"\r\nContent-Type: {content_type}\r\n\r\n");
                body.extend_from_slice(fields.as_bytes());
                body.extend_from_slice(content);
            }
        }
        body.extend_from_slice(b"\r\n");
    }
    body.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
    Ok((body.into(), Some(format!("multipart/form-data; boundary={boundary}"))))
}
