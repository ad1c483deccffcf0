//! Queries: what is taken from a response.

use super::ParseError;
use super::ast::{CertificateAttribute, CookieAttribute, Piece, Query, Template};
use super::cursor::Cursor;
use super::error::Position;
use super::template::quoted;
use super::value::pattern;

/// The names of all queries, for messages.
const NAMES: &str = "status, version, url, redirects, ip, header, cookie, body, bytes, rawbytes, jsonpath, xpath, regex, \
                     variable, duration, sha256, md5 or certificate";

/// Reads a query.
pub(super) fn query(cursor: &mut Cursor<'_>) -> Result<Query, ParseError> {
    let start = cursor.clone();
    let name = cursor.eat_while(|c| c.is_alphanumeric());
    cursor.spaces_before_argument(name);
    Ok(match name {
        "status" => Query::Status,
        "version" => Query::Version,
        "url" => Query::Url,
        "redirects" => Query::Redirects,
        "ip" => Query::Ip,
        "header" => Query::Header(quoted(cursor)?),
        "cookie" => cookie(cursor)?,
        "body" => Query::Body,
        "bytes" => Query::Bytes,
        "rawbytes" => Query::RawBytes,
        "jsonpath" => Query::JsonPath(quoted(cursor)?),
        "xpath" => Query::XPath(quoted(cursor)?),
        "regex" => Query::Regex(pattern(cursor)?),
        "variable" => Query::Variable(quoted(cursor)?),
        "duration" => Query::Duration,
        "sha256" => Query::Sha256,
        "md5" => Query::Md5,
        "certificate" => Query::Certificate(certificate(cursor)?),
        _ => return Err(start.error(format!("a query should stand here: {NAMES}"))),
    })
}

impl Cursor<'_> {
    /// Moves behind the spaces between a query's name and its argument; queries without one leave them to what follows.
    fn spaces_before_argument(&mut self, name: &str) {
        if matches!(name, "header" | "cookie" | "jsonpath" | "xpath" | "regex" | "variable" | "certificate") {
            self.spaces();
        }
    }
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
    Ok(match name.to_ascii_lowercase().as_str() {
        "value" => CookieAttribute::Value,
        "expires" => CookieAttribute::Expires,
        "max-age" => CookieAttribute::MaxAge,
        "domain" => CookieAttribute::Domain,
        "path" => CookieAttribute::Path,
        "secure" => CookieAttribute::Secure,
        "httponly" => CookieAttribute::HttpOnly,
        "samesite" => CookieAttribute::SameSite,
        _ => {
            let known = "Value, Expires, Max-Age, Domain, Path, Secure, HttpOnly or SameSite";
            return Err(ParseError { at, message: format!("'{name}' is no attribute of a cookie: use {known}") });
        }
    })
}

fn certificate(cursor: &mut Cursor<'_>) -> Result<CertificateAttribute, ParseError> {
    let start = cursor.clone();
    let name = quoted(cursor)?;
    Ok(match name.literal() {
        Some("Subject") => CertificateAttribute::Subject,
        Some("Issuer") => CertificateAttribute::Issuer,
        Some("Start-Date") => CertificateAttribute::StartDate,
        Some("Expire-Date") => CertificateAttribute::ExpireDate,
        Some("Serial-Number") => CertificateAttribute::SerialNumber,
        Some("Subject-Alt-Name") => CertificateAttribute::SubjectAltName,
        Some("Value") => CertificateAttribute::Value,
        _ => {
            let known = "Subject, Issuer, Start-Date, Expire-Date, Serial-Number, Subject-Alt-Name or Value";
            return Err(start.error(format!("an attribute of a certificate should stand here: {known}")));
        }
    })
}

/// Returns a template of one text, for tests and for names that the program itself gives.
impl From<&str> for Template {
    fn from(text: &str) -> Self {
        Self(if text.is_empty() { Vec::new() } else { vec![Piece::Text(text.to_owned())] })
    }
}
