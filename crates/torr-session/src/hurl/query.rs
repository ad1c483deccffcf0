//! Queries: what is taken from a response.

use super::ParseError;
use super::ast::{CertificateAttribute, CookieAttribute, Piece, Query, Template};
use super::cursor::Cursor;
use super::error::Position;
use super::names::names;
use super::template::{pattern, quoted};

/// The names of all queries, for messages.
const NAMES: &str = "status, version, url, redirects, ip, header, cookie, body, bytes, rawbytes, jsonpath, xpath, regex, \
                     variable, duration, sha256, md5 or certificate";

/// Queries without an argument.
pub(super) const PLAIN: &[(&str, Query)] = &[
    ("status", Query::Status),
    ("version", Query::Version),
    ("url", Query::Url),
    ("redirects", Query::Redirects),
    ("ip", Query::Ip),
    ("body", Query::Body),
    ("bytes", Query::Bytes),
    ("rawbytes", Query::RawBytes),
    ("duration", Query::Duration),
    ("sha256", Query::Sha256),
    ("md5", Query::Md5),
];
/// Attributes of a cookie, whose names are compared without regard to case.
pub(super) const COOKIE_ATTRIBUTES: &[(&str, CookieAttribute)] = &[
    ("Value", CookieAttribute::Value),
    ("Expires", CookieAttribute::Expires),
    ("Max-Age", CookieAttribute::MaxAge),
    ("Domain", CookieAttribute::Domain),
    ("Path", CookieAttribute::Path),
    ("Secure", CookieAttribute::Secure),
    ("HttpOnly", CookieAttribute::HttpOnly),
    ("SameSite", CookieAttribute::SameSite),
];
/// Attributes of a certificate.
pub(super) const CERTIFICATE_ATTRIBUTES: &[(&str, CertificateAttribute)] = &[
    ("Subject", CertificateAttribute::Subject),
    ("Issuer", CertificateAttribute::Issuer),
    ("Start-Date", CertificateAttribute::StartDate),
    ("Expire-Date", CertificateAttribute::ExpireDate),
    ("Serial-Number", CertificateAttribute::SerialNumber),
    ("Subject-Alt-Name", CertificateAttribute::SubjectAltName),
    ("Value", CertificateAttribute::Value),
];

/// Reads a query.
pub(super) fn query(cursor: &mut Cursor<'_>) -> Result<Query, ParseError> {
    if let Some((_, query)) = PLAIN.iter().find(|(name, _)| cursor.eat_word(name)) {
        return Ok(query.clone());
    }
    let start = cursor.clone();
    let name = cursor.eat_while(|c| c.is_alphanumeric());
    cursor.spaces();
    Ok(match name {
        "header" => Query::Header(quoted(cursor)?),
        "cookie" => cookie(cursor)?,
        "jsonpath" => Query::JsonPath(quoted(cursor)?),
        "xpath" => Query::XPath(quoted(cursor)?),
        "regex" => Query::Regex(pattern(cursor)?),
        "variable" => Query::Variable(quoted(cursor)?),
        "certificate" => Query::Certificate(certificate(cursor)?),
        _ => return Err(start.error(format!("expected a query: {NAMES}"))),
    })
}

/// Reads a cookie's name, with an attribute in brackets if one is asked for.
fn cookie(cursor: &mut Cursor<'_>) -> Result<Query, ParseError> {
    let at = cursor.position();
    let mut name = quoted(cursor)?;
    let Some(Piece::Text(last)) = name.0.last_mut() else { return Ok(Query::Cookie { name, attribute: None }) };
    let Some(open) = last.ends_with(']').then(|| last.rfind('[')).flatten() else {
        return Ok(Query::Cookie { name, attribute: None });
    };
    let attribute = attribute(&last[open + 1..last.len() - 1], at)?;
    last.truncate(open);
    if last.is_empty() {
        name.0.pop();
    }
    Ok(Query::Cookie { name, attribute: Some(attribute) })
}

fn attribute(name: &str, at: Position) -> Result<CookieAttribute, ParseError> {
    let known = COOKIE_ATTRIBUTES.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
    known.map(|(_, attribute)| *attribute).ok_or_else(|| {
        let known = names(COOKIE_ATTRIBUTES);
        ParseError { at, message: format!("unknown cookie attribute '{name}': use {known}") }
    })
}

fn certificate(cursor: &mut Cursor<'_>) -> Result<CertificateAttribute, ParseError> {
    let start = cursor.clone();
    let name = quoted(cursor)?;
    let known = CERTIFICATE_ATTRIBUTES.iter().find(|(known, _)| name.literal() == Some(known));
    known.map(|(_, attribute)| *attribute).ok_or_else(|| {
        let known = names(CERTIFICATE_ATTRIBUTES);
        start.error(format!("expected a certificate attribute: {known}"))
    })
}

/// Returns a template of one text, for tests and for names that the program itself gives.
impl From<&str> for Template {
    fn from(text: &str) -> Self {
        Self(if text.is_empty() { Vec::new() } else { vec![Piece::Text(text.to_owned())] })
    }
}
