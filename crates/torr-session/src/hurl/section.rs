//! Sections: a name in brackets on a line, and the lines below it.

use super::ParseError;
use super::ast::{Assert, Capture, MultipartPart, Request, Response};
use super::cursor::Cursor;
use super::option::{colon, key_value, option};
use super::predicate::predicate;
use super::query::query;
use super::template::{file, filters, key, line};

/// The sections of a request, with the spellings of earlier versions.
const OF_REQUESTS: &[&str] = &[
    "Options",
    "Query",
    "QueryStringParams",
    "Form",
    "FormParams",
    "Multipart",
    "MultipartFormData",
    "Cookies",
    "BasicAuth",
];
/// The sections of a response.
const OF_RESPONSES: &[&str] = &["Captures", "Asserts"];

/// Reads the name of a section and the end of its line, if one stands here.
fn header<'s>(cursor: &mut Cursor<'s>) -> Result<Option<&'s str>, ParseError> {
    let mut ahead = cursor.clone();
    let name = if ahead.eat("[") { ahead.eat_while(|c| c.is_ascii_alphanumeric()) } else { "" };
    // A list of JSON may stand here as well.
    let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic()) && !["true", "false", "null"].contains(&name);
    if !is_name || !ahead.eat("]") {
        return Ok(None);
    }
    ahead.end_of_line()?;
    *cursor = ahead;
    Ok(Some(name))
}

/// Reads the sections of a request.
pub(super) fn of_request(cursor: &mut Cursor<'_>, request: &mut Request) -> Result<(), ParseError> {
    let mut seen = Vec::new();
    loop {
        cursor.skip_empty_lines();
        let start = cursor.clone();
        let name = header(cursor)?;
        once(name, &mut seen, &start)?;
        match name {
            None => return Ok(()),
            Some("Options") => request.options.extend(lines(cursor, option)?),
            Some("Query" | "QueryStringParams") => request.query.extend(lines(cursor, key_value)?),
            Some("Form" | "FormParams") => request.form.extend(lines(cursor, key_value)?),
            Some("Multipart" | "MultipartFormData") => request.multipart.extend(lines(cursor, part)?),
            Some("Cookies") => request.cookies.extend(lines(cursor, key_value)?),
            Some("BasicAuth") => {
                let users = lines(cursor, key_value)?;
                if let Some(second) = users.get(1) {
                    let message = "[BasicAuth] must have one line: USER: PASSWORD".to_owned();
                    return Err(ParseError { at: second.at, message });
                }
                request.basic_auth = users.into_iter().next();
            }
            Some(name) => {
                return Err(unknown(
                    name,
                    OF_REQUESTS,
                    OF_RESPONSES,
                    "of a response: move it below the HTTP line",
                    &start,
                ));
            }
        }
    }
}

/// Reads the sections of a response.
pub(super) fn of_response(cursor: &mut Cursor<'_>, response: &mut Response) -> Result<(), ParseError> {
    let mut seen = Vec::new();
    loop {
        cursor.skip_empty_lines();
        let start = cursor.clone();
        let name = header(cursor)?;
        once(name, &mut seen, &start)?;
        match name {
            None => return Ok(()),
            Some("Captures") => response.captures.extend(lines(cursor, capture)?),
            Some("Asserts") => response.asserts.extend(lines(cursor, assert)?),
            Some(name) => {
                return Err(unknown(
                    name,
                    OF_RESPONSES,
                    OF_REQUESTS,
                    "of a request: move it above the HTTP line",
                    &start,
                ));
            }
        }
    }
}

/// Refuses a section that stands twice in a request or a response, as hurl does.
fn once<'s>(name: Option<&'s str>, seen: &mut Vec<&'s str>, start: &Cursor<'_>) -> Result<(), ParseError> {
    if let Some(name) = name {
        if seen.contains(&name) {
            return Err(start.error(format!("duplicate section [{name}]: move its lines to the first one")));
        }
        seen.push(name);
    }
    Ok(())
}

fn unknown(name: &str, here: &[&str], there: &[&str], whose: &str, start: &Cursor<'_>) -> ParseError {
    if there.contains(&name) {
        return start.error(format!("[{name}] is a section {whose}"));
    }
    start.error(format!("unknown section [{name}]: use [{}]", here.join("], [")))
}

/// Reads lines up to the next section, request, status line or content.
fn lines<T>(
    cursor: &mut Cursor<'_>,
    read: impl Fn(&mut Cursor<'_>) -> Result<T, ParseError>,
) -> Result<Vec<T>, ParseError> {
    let mut items = Vec::new();
    loop {
        cursor.skip_empty_lines();
        if ends_lines(cursor) {
            return Ok(items);
        }
        items.push(read(cursor)?);
        cursor.end_of_line()?;
    }
}

/// Whether what stands at the beginning of a line is no line of a section or field.
pub(super) fn ends_lines(cursor: &Cursor<'_>) -> bool {
    let content = ["[", "`", "<", "\"", "base64,", "hex,", "file,"].iter().any(|begin| cursor.starts_with(begin));
    // A placeholder may begin a name, a single brace begins an object.
    let object = cursor.starts_with("{") && !cursor.starts_with("{{");
    cursor.is_at_end() || content || object || begins_request(cursor) || begins_response(cursor)
}

/// Whether a request line stands here: a method and something that is no colon.
pub(super) fn begins_request(cursor: &Cursor<'_>) -> bool {
    let mut ahead = cursor.clone();
    let method = ahead.eat_while(|c| c.is_ascii_uppercase());
    !method.is_empty() && method != "HTTP" && ahead.spaces() && !ahead.starts_with(":")
}

/// Whether a status line stands here.
pub(super) fn begins_response(cursor: &Cursor<'_>) -> bool {
    let Some(rest) = cursor.rest().strip_prefix("HTTP") else { return false };
    rest.starts_with('/') || rest.trim_start_matches([' ', '\t']).starts_with(|c: char| c == '*' || c.is_ascii_digit())
}

fn part(cursor: &mut Cursor<'_>) -> Result<MultipartPart, ParseError> {
    let mut ahead = cursor.clone();
    let at = ahead.position();
    let name = key(&mut ahead)?;
    colon(&mut ahead)?;
    if !ahead.starts_with("file,") {
        return key_value(cursor).map(MultipartPart::Field);
    }
    let file = file(&mut ahead)?;
    ahead.spaces();
    let content_type = Some(line(&mut ahead)?).filter(|content_type| !content_type.0.is_empty());
    *cursor = ahead;
    Ok(MultipartPart::File { name, file, content_type, at })
}

fn capture(cursor: &mut Cursor<'_>) -> Result<Capture, ParseError> {
    let at = cursor.position();
    let name = key(cursor)?;
    colon(cursor)?;
    let query = query(cursor)?;
    let filters = filters(cursor)?;
    cursor.spaces();
    Ok(Capture { name, query, filters, redact: cursor.eat_word("redact"), at })
}

fn assert(cursor: &mut Cursor<'_>) -> Result<Assert, ParseError> {
    let at = cursor.position();
    let query = query(cursor)?;
    let filters = filters(cursor)?;
    cursor.spaces();
    let (not, predicate) = predicate(cursor)?;
    Ok(Assert { query, filters, not, predicate, at })
}
