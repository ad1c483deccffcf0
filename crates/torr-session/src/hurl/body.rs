//! Content of requests and responses.

use super::ParseError;
use super::ast::{Body, JsonPiece, Template, TextHint};
use super::cursor::Cursor;
use super::fenced::fenced;
use super::json;
use super::template::{backtick, file};
use ::base64::Engine;
use ::base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

/// Base64 as MIME writes it, with or without padding (RFC 2045, section 6.8).
const MIME: GeneralPurpose = GeneralPurpose::new(
    &::base64::alphabet::STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

/// Reads content, if any stands here.
pub(super) fn body(cursor: &mut Cursor<'_>) -> Result<Option<Body>, ParseError> {
    Ok(Some(if cursor.starts_with("```") {
        match fence(cursor)? {
            (query, Fence::GraphQl(variables)) => Body::GraphQl { query, variables },
            (text, Fence::Text(hint)) => Body::Text { text, hint },
        }
    } else if cursor.starts_with("`") {
        Body::Text { text: backtick(cursor)?, hint: TextHint::Plain }
    } else if cursor.starts_with("<") {
        Body::Xml(xml(cursor)?)
    } else if cursor.starts_with("base64,") {
        Body::Bytes(base64(cursor)?)
    } else if cursor.starts_with("hex,") {
        Body::Bytes(hex(cursor)?)
    } else if cursor.starts_with("file,") {
        Body::File(file(cursor)?)
    } else if json::begins(cursor) {
        Body::Json(json::json(cursor)?)
    } else {
        return Ok(None);
    }))
}

/// What the word after three backticks makes of the text.
pub(super) enum Fence {
    /// Text of a media type.
    Text(TextHint),
    /// A GraphQL query, with its variables.
    GraphQl(Option<Vec<JsonPiece>>),
}

/// Reads text between fences of three backticks, on one line or on several.
pub(super) fn fence(cursor: &mut Cursor<'_>) -> Result<(Template, Fence), ParseError> {
    let open = cursor.clone();
    cursor.eat("```");
    let unclosed = || open.error("expected ``` to close the text that begins here");
    let first_line = cursor.rest().split(['\n', '\r']).next().unwrap_or_default();
    if let Some(end) = first_line.find("```") {
        let text = &first_line[..end];
        let template = fenced(text, cursor.position(), true, false)?;
        cursor.skip(end + 3);
        return Ok((template, Fence::Text(TextHint::Plain)));
    }
    let hint_at = cursor.clone();
    let mut words = first_line.split(',').map(str::trim).peekable();
    let is_attribute = |word: &&str| matches!(*word, "escape" | "novariable");
    let hint = words.next_if(|word| !is_attribute(word)).unwrap_or_default();
    let (mut placeholders, mut escapes) = (true, false);
    for attribute in words.filter(|word| !word.is_empty()) {
        match attribute {
            "escape" => escapes = true,
            "novariable" => placeholders = false,
            other => {
                return Err(hint_at.error(format!("unknown attribute '{other}' of a text: use escape or novariable")));
            }
        }
    }
    cursor.skip(first_line.len());
    if !cursor.newline() {
        return Err(unclosed());
    }
    let end = cursor.rest().find("```").ok_or_else(unclosed)?;
    let (text, at) = (&cursor.rest()[..end], cursor.position());
    let kind = match hint {
        "" => Fence::Text(TextHint::Plain),
        "raw" => {
            placeholders = false;
            Fence::Text(TextHint::Plain)
        }
        "json" => Fence::Text(TextHint::Json),
        "xml" => Fence::Text(TextHint::Xml),
        "graphql" => return graphql(cursor, end, placeholders, escapes),
        // Spellings of earlier versions, in which nothing depends on them.
        "csv" | "text" => Fence::Text(TextHint::Plain),
        other => {
            let message = format!("unknown kind of text '{other}': use json, xml, graphql, raw or nothing");
            return Err(hint_at.error(message));
        }
    };
    let template = fenced(text, at, placeholders, escapes)?;
    cursor.skip(end + 3);
    Ok((template, kind))
}

/// Reads a GraphQL query up to its end or to the line that begins with `variables`.
fn graphql(
    cursor: &mut Cursor<'_>,
    end: usize,
    placeholders: bool,
    escapes: bool,
) -> Result<(Template, Fence), ParseError> {
    let (text, at) = (&cursor.rest()[..end], cursor.position());
    let is_variables =
        |line: &str| line.strip_prefix("variables").is_some_and(|rest| rest.trim_start().starts_with('{'));
    let mut offset = 0;
    for line in text.split_inclusive('\n') {
        if is_variables(line) {
            let query = fenced(&text[..offset], at, placeholders, escapes)?;
            cursor.skip(offset + "variables".len());
            cursor.spaces();
            let variables = json::json(cursor)?;
            cursor.eat_while(|c| matches!(c, ' ' | '\t' | '\n' | '\r'));
            if !cursor.eat("```") {
                return Err(cursor.error("expected ``` to close the GraphQL query"));
            }
            return Ok((query, Fence::GraphQl(Some(variables))));
        }
        offset += line.len();
    }
    let query = fenced(text, at, placeholders, escapes)?;
    cursor.skip(end + 3);
    Ok((query, Fence::GraphQl(None)))
}

/// Reads an XML document up to the end of its root element.
fn xml(cursor: &mut Cursor<'_>) -> Result<String, ParseError> {
    let start = cursor.clone();
    let mut open = Vec::new();
    loop {
        cursor.eat_while(|c| c != '<');
        let here = cursor.clone();
        let end = |marker: &str| here.rest().find(marker).map(|at| at + marker.len());
        let unclosed = || start.error("the XML that begins here is not closed");
        if cursor.starts_with("<!--") {
            cursor.skip(end("-->").ok_or_else(unclosed)?);
        } else if cursor.starts_with("<![CDATA[") {
            cursor.skip(end("]]>").ok_or_else(unclosed)?);
        } else if cursor.starts_with("<?") {
            cursor.skip(end("?>").ok_or_else(unclosed)?);
        } else if cursor.starts_with("<!") {
            cursor.skip(end(">").ok_or_else(unclosed)?);
        } else {
            let tag = tag(cursor).ok_or_else(unclosed)?;
            if let Some(name) = tag.strip_prefix("</") {
                let name = name.trim_end_matches('>').trim();
                if open.pop() != Some(name) {
                    return Err(here.error(format!("</{name}> does not match an open element")));
                }
            } else if !tag.ends_with("/>") {
                open.push(tag[1..].split([' ', '\t', '\r', '\n', '>']).next().unwrap_or_default());
            }
            if open.is_empty() {
                return Ok(start.rest()[..start.rest().len() - cursor.rest().len()].to_owned());
            }
        }
    }
}

/// Moves behind a tag, whose attributes' values may hold `>`.
fn tag<'s>(cursor: &mut Cursor<'s>) -> Option<&'s str> {
    let start = cursor.rest();
    let mut quote = None;
    loop {
        let next = cursor.next()?;
        match quote {
            Some(open) if open == next => quote = None,
            Some(_) => {}
            None if matches!(next, '"' | '\'') => quote = Some(next),
            None if next == '>' => return Some(&start[..start.len() - cursor.rest().len()]),
            None => {}
        }
    }
}

/// Reads `base64,...;`, spaces and line breaks aside.
pub(super) fn base64(cursor: &mut Cursor<'_>) -> Result<Vec<u8>, ParseError> {
    let start = cursor.clone();
    let text = encoded(cursor, "base64,")?;
    MIME.decode(text).map_err(|error| start.error(format!("invalid base64: {error}")))
}

/// Reads `hex,...;`, spaces and line breaks aside.
pub(super) fn hex(cursor: &mut Cursor<'_>) -> Result<Vec<u8>, ParseError> {
    let start = cursor.clone();
    let text = encoded(cursor, "hex,")?;
    let wrong = || start.error("expected pairs of hexadecimal digits and ';' after hex,");
    if text.len() % 2 != 0 || !text.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return Err(wrong());
    }
    let pairs = (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16));
    pairs.collect::<Result<_, _>>().map_err(|_| wrong())
}

fn encoded(cursor: &mut Cursor<'_>, prefix: &str) -> Result<String, ParseError> {
    let start = cursor.clone();
    cursor.eat(prefix);
    let text = cursor.eat_while(|c| c != ';').chars().filter(|c| !c.is_whitespace()).collect();
    let unclosed = || {
        let kind = prefix.trim_end_matches(',');
        start.error(format!("expected ';' to close the {kind} value that begins here"))
    };
    if cursor.eat(";") { Ok(text) } else { Err(unclosed()) }
}
