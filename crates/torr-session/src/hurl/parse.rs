//! The file as a whole: entries, request lines, status lines.

use super::ParseError;
use super::ast::{Entry, File, KeyValue, Request, Response, Version};
use super::body::body;
use super::cursor::Cursor;
use super::option::key_value;
use super::section::{begins_request, begins_response, ends_lines, of_request, of_response};
use super::template::line;

/// Reads a hurl file.
///
/// # Errors
/// At the first place where the text is not a hurl file.
pub fn parse(source: &str) -> Result<File, ParseError> {
    // A message may quote the file, where it has several lines.
    file(source).map_err(|error| ParseError { message: error.message.replace(['\n', '\r'], " "), ..error })
}

fn file(source: &str) -> Result<File, ParseError> {
    let mut cursor = Cursor::new(source);
    let mut entries = Vec::new();
    loop {
        let name = name_in_comments(&mut cursor);
        if cursor.is_at_end() {
            return Ok(File { entries });
        }
        if !begins_request(&cursor) {
            let message = match begins_response(&cursor) {
                true => "expected a request before this second status line",
                false => "expected a request, such as GET https://example.org",
            };
            return Err(cursor.error(message));
        }
        let request = request(&mut cursor)?;
        // The comments before the next request may name it, so the position behind them is taken only for a response.
        let mut ahead = cursor.clone();
        ahead.skip_empty_lines();
        let mut expected = None;
        if begins_response(&ahead) {
            expected = Some(response(&mut ahead)?);
            cursor = ahead;
        }
        entries.push(Entry { name, request, response: expected });
    }
}

/// Moves to the next line with content, and returns the name that the comments on the way give the next entry.
fn name_in_comments(cursor: &mut Cursor<'_>) -> Option<String> {
    let start = cursor.clone();
    cursor.skip_empty_lines();
    let between = &start.rest()[..start.rest().len() - cursor.rest().len()];
    let named =
        |line: &str| line.trim().strip_prefix('#')?.trim().strip_prefix("name:").map(|name| name.trim().to_owned());
    between.lines().filter_map(named).rfind(|name| !name.is_empty())
}

fn request(cursor: &mut Cursor<'_>) -> Result<Request, ParseError> {
    let at = cursor.position();
    let method = cursor.eat_while(|c| c.is_ascii_uppercase());
    cursor.spaces();
    let url = line(cursor)?;
    if url.0.is_empty() {
        return Err(cursor.error("expected a URL"));
    }
    cursor.end_of_line()?;
    let mut request = Request { headers: fields(cursor)?, ..Request::new(method, url, at) };
    let mut ahead = cursor.clone();
    of_request(&mut ahead, &mut request)?;
    request.body = content(cursor, ahead)?;
    Ok(request)
}

fn response(cursor: &mut Cursor<'_>) -> Result<Response, ParseError> {
    let at = cursor.position();
    let version = version(cursor)?;
    if !cursor.spaces() {
        return Err(cursor.error("expected a status code or *"));
    }
    let status = status(cursor)?;
    cursor.end_of_line()?;
    let headers = fields(cursor)?;
    let mut response = Response { version, status, headers, captures: Vec::new(), asserts: Vec::new(), body: None, at };
    let mut ahead = cursor.clone();
    of_response(&mut ahead, &mut response)?;
    response.body = content(cursor, ahead)?;
    Ok(response)
}

/// Reads content behind sections. `cursor` stands before the sections, `ahead` behind them and the comments that follow: these are
/// left where they are, since one of them may name the next entry.
fn content<'s>(cursor: &mut Cursor<'s>, mut ahead: Cursor<'s>) -> Result<Option<super::ast::Body>, ParseError> {
    let body =
        if begins_request(&ahead) || begins_response(&ahead) || ahead.is_at_end() { None } else { body(&mut ahead)? };
    if body.is_some() {
        ahead.end_of_line()?;
        *cursor = ahead;
    } else {
        cursor.skip_to_comments_before(&ahead);
    }
    Ok(body)
}

impl<'s> Cursor<'s> {
    /// Moves to the beginning of the run of empty lines and comments that ends at a place further on.
    fn skip_to_comments_before(&mut self, end: &Cursor<'s>) {
        let between = &self.rest()[..self.rest().len() - end.rest().len()];
        let is_empty = |line: &str| matches!(line.trim().chars().next(), None | Some('#'));
        let run: usize = between.split_inclusive('\n').rev().take_while(|line| is_empty(line)).map(str::len).sum();
        self.skip(between.len() - run);
    }
}

fn fields(cursor: &mut Cursor<'_>) -> Result<Vec<KeyValue>, ParseError> {
    let mut fields = Vec::new();
    loop {
        let mut ahead = cursor.clone();
        ahead.skip_empty_lines();
        if ends_lines(&ahead) || begins_value(&ahead) {
            return Ok(fields);
        }
        fields.push(key_value(&mut ahead)?);
        ahead.end_of_line()?;
        *cursor = ahead;
    }
}

/// Whether JSON content other than an object, a list or a string stands on this line: no colon follows its first word.
fn begins_value(cursor: &Cursor<'_>) -> bool {
    let mut ahead = cursor.clone();
    super::json::begins(cursor) && super::json::json(&mut ahead).is_ok() && ahead.end_of_line().is_ok()
}

fn version(cursor: &mut Cursor<'_>) -> Result<Option<Version>, ParseError> {
    cursor.eat("HTTP");
    if !cursor.eat("/") {
        return Ok(None);
    }
    let start = cursor.clone();
    Ok(match cursor.eat_while(|c| !c.is_whitespace()) {
        "*" => None,
        "1.0" => Some(Version::Http10),
        "1.1" => Some(Version::Http11),
        "2" => Some(Version::Http2),
        "3" => Some(Version::Http3),
        _ => return Err(start.error("expected a version: HTTP, HTTP/1.0, HTTP/1.1, HTTP/2, HTTP/3 or HTTP/*")),
    })
}

fn status(cursor: &mut Cursor<'_>) -> Result<Option<u16>, ParseError> {
    let start = cursor.clone();
    if cursor.eat("*") {
        return Ok(None);
    }
    let digits = cursor.eat_while(|c| c.is_ascii_digit());
    let code = digits.parse().ok().filter(|code| (100..1000).contains(code));
    code.map(Some).ok_or_else(|| start.error("expected a status code such as 200, or * for any"))
}
