//! Header fields: those that are sent by themselves, those that options ask for, and the user's own.

use super::RequestError;
use super::body::Composed;
use super::escape::Escape;
use super::options::{Auth, Body, Options};
use super::template::{Parser, Template, Value};
use http::{HeaderName, HeaderValue};
use torr_gauge::redact;

/// Name and value.
pub(super) type Field = (String, Template);

/// The `Host` field that the user asks for.
#[derive(Debug, Default)]
pub(super) enum HostField {
    /// That of the URL.
    #[default]
    OfUrl,
    /// Another one.
    Own(Template),
    /// None: `Host:`, as with curl. HTTP/2 has the URL's all the same.
    Left,
}

/// All fields of a request but `Host` and `Content-Length`, and the `Host` that replaces the URL's.
pub(super) fn compose(
    options: &Options,
    credentials: Option<&str>,
    body: Option<&Composed>,
    parser: &mut Parser<'_>,
) -> Result<(Vec<Field>, HostField), RequestError> {
    let mut fields = by_themselves(options, credentials, parser)?;
    let (mut host, mut own, mut is_typed) = (HostField::OfUrl, vec![], false);
    for (at, line) in options.headers.iter().enumerate() {
        let (name, value) = split(line).ok_or(RequestError::Header(at + 1))?;
        let is = |other: &str| name.eq_ignore_ascii_case(other);
        if is("content-length") || is("transfer-encoding") || is("content-type") && body.is_some_and(|b| b.is_fixed) {
            return Err(RequestError::OwnHeader(name.to_owned()));
        }
        is_typed |= is("content-type");
        let value = checked(name, value, parser)?;
        let is_left_out = value.is_empty() && line.contains(':');
        if is("host") {
            host = if is_left_out { HostField::Left } else { HostField::Own(value) };
            continue;
        }
        fields.retain(|(default, _)| !is(default));
        if !is_left_out {
            own.push((name.to_owned(), value));
        }
    }
    fields.append(&mut own);
    if let Some(body) = body.filter(|_| !is_typed) {
        fields.push(("Content-Type".into(), body.media_type.as_str().into()));
    }
    Ok((fields, host))
}

/// Whether the user's headers have a field of this name.
pub fn have(headers: &[String], name: &str) -> bool {
    headers.iter().filter_map(|line| split(line)).any(|(known, _)| known.eq_ignore_ascii_case(name))
}

/// Whether the user's headers ask the server to close the connection after each response.
pub(super) fn ask_to_close(headers: &[String]) -> bool {
    let lines = headers.iter().filter_map(|line| split(line));
    lines
        .filter(|(name, _)| name.eq_ignore_ascii_case("connection"))
        .any(|(_, value)| value.split(',').any(|option| option.trim().eq_ignore_ascii_case("close")))
}

/// Whether the user's headers call the body JSON.
pub(super) fn say_json(headers: &[String]) -> bool {
    headers.iter().any(|line| {
        let line = line.to_ascii_lowercase();
        line.starts_with("content-type:") && line.contains("json")
    })
}

/// The fields that the user's own ones replace.
fn by_themselves(
    options: &Options,
    credentials: Option<&str>,
    parser: &mut Parser<'_>,
) -> Result<Vec<Field>, RequestError> {
    let torr = concat!("torr/", env!("CARGO_PKG_VERSION"));
    let is_json = matches!(options.body, Some(Body::Json(_)));
    let mut fields = vec![];
    let mut add = |name: &str, value: Template| {
        if !value.is_empty() {
            fields.push((name.to_owned(), value));
        }
    };
    let agent = options.user_agent.as_deref().unwrap_or(torr);
    add("User-Agent", checked("User-Agent", agent, parser)?);
    let media_types = match options.event_streams {
        true => "text/event-stream",
        false if is_json => "application/json",
        false => "*/*",
    };
    add("Accept", media_types.into());
    if !options.keep_alive {
        add("Connection", "close".into());
    }
    add("Referer", checked("Referer", options.referer.as_deref().unwrap_or_default(), parser)?);
    add("Cookie", checked("Cookie", &options.cookies.join("; "), parser)?);
    if options.compressed {
        // A stream is decoded as it arrives.
        add("Accept-Encoding", if options.event_streams { "gzip, br" } else { "gzip, br, zstd" }.into());
    }
    match (&options.auth, credentials) {
        (Some(Auth::Bearer(token)), _) => {
            add("Authorization", checked("Authorization", &format!("Bearer {token}"), parser)?);
        }
        (Some(Auth::Basic(credentials)), _) => add("Authorization", basic(credentials, parser)?),
        (None, Some(credentials)) => add("Authorization", basic(credentials, parser)?),
        // It is made when the request is written.
        (Some(Auth::Signed(_) | Auth::Renewed(_) | Auth::Digest), _) | (None, None) => {}
    }
    Ok(fields)
}

fn basic(credentials: &str, parser: &mut Parser<'_>) -> Result<Template, RequestError> {
    let mut value = Template::from("Basic ");
    let credentials =
        parser.parse(credentials, Escape::Nothing).map_err(|error| without_secret("Authorization", error))?;
    value.push_value(Value::Base64(credentials));
    Ok(value)
}

/// Splits a header line. `Name;` is a field whose value is empty, as with curl.
fn split(line: &str) -> Option<(&str, &str)> {
    let empty = || Some((line.strip_suffix(';')?, ""));
    let (name, value) = line.split_once(':').or_else(empty)?;
    HeaderName::from_bytes(name.as_bytes()).ok()?;
    Some((name, value))
}

/// A value that can stand in a header.
fn checked(name: &str, value: &str, parser: &mut Parser<'_>) -> Result<Template, RequestError> {
    let template = parser.parse(value.trim(), Escape::Header).map_err(|error| without_secret(name, error))?;
    match HeaderValue::from_bytes(&template.sample(b"")) {
        Ok(_) => Ok(template),
        Err(_) => Err(RequestError::HeaderValue(name.to_owned())),
    }
}

/// Removes the text of a placeholder from an error if it may be part of a secret.
fn without_secret(name: &str, error: RequestError) -> RequestError {
    match error {
        RequestError::Template { why, .. } if redact::is_secret_field(name) => {
            RequestError::Template { text: format!("{{{{...}}}} in {name}"), why }
        }
        error => error,
    }
}
