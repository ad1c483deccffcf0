//! JSON content with placeholders (RFC 8259).

use super::ParseError;
use super::ast::JsonPiece;
use super::cursor::Cursor;
use super::literal::number;
use super::template::placeholder;

/// How deep values may nest: as deep as `serde_json` reads.
const DEPTH: usize = 128;

/// Whether a JSON value may begin here.
pub(super) fn begins(cursor: &Cursor<'_>) -> bool {
    let literal = ["true", "false", "null", "{{"].iter().any(|word| cursor.starts_with(word));
    literal || cursor.peek().is_some_and(|next| matches!(next, '{' | '[' | '"' | '-') || next.is_ascii_digit())
}

/// Reads one JSON value.
pub(super) fn json(cursor: &mut Cursor<'_>) -> Result<Vec<JsonPiece>, ParseError> {
    let mut pieces = Vec::new();
    value(cursor, &mut pieces, 0)?;
    Ok(pieces)
}

fn value(cursor: &mut Cursor<'_>, pieces: &mut Vec<JsonPiece>, depth: usize) -> Result<(), ParseError> {
    if depth > DEPTH {
        return Err(cursor.error(format!("JSON must not be nested deeper than {DEPTH} levels")));
    }
    if cursor.starts_with("{{") {
        pieces.push(JsonPiece::Value(placeholder(cursor)?));
        return Ok(());
    }
    let start = cursor.clone();
    match cursor.peek() {
        Some('{') => collection(cursor, pieces, '}', depth),
        Some('[') => collection(cursor, pieces, ']', depth),
        Some('"') => string(cursor, pieces),
        Some(next) if next == '-' || next.is_ascii_digit() => {
            number(cursor)?;
            text(pieces, &start, cursor);
            Ok(())
        }
        _ if ["true", "false", "null"].iter().any(|word| cursor.eat_word(word)) => {
            text(pieces, &start, cursor);
            Ok(())
        }
        _ => Err(start.error("expected a JSON value")),
    }
}

/// Reads an object or a list, which differ in whether their members have names.
fn collection(
    cursor: &mut Cursor<'_>,
    pieces: &mut Vec<JsonPiece>,
    close: char,
    depth: usize,
) -> Result<(), ParseError> {
    let open = cursor.clone();
    let mut start = cursor.clone();
    cursor.next();
    whitespace(cursor);
    let mut first = true;
    while cursor.peek() != Some(close) {
        if !first {
            if !cursor.eat(",") {
                let unclosed = cursor.is_at_end();
                let message = format!("expected ',' or '{close}'");
                return Err(if unclosed {
                    open.error(format!("expected '{close}' to close the JSON that begins here"))
                } else {
                    cursor.error(message)
                });
            }
            whitespace(cursor);
        }
        first = false;
        text(pieces, &start, cursor);
        if close == '}' {
            if cursor.peek() != Some('"') {
                return Err(cursor.error("expected a member's name in double quotes"));
            }
            string(cursor, pieces)?;
            start = cursor.clone();
            whitespace(cursor);
            if !cursor.eat(":") {
                return Err(cursor.error("expected ':'"));
            }
            whitespace(cursor);
            text(pieces, &start, cursor);
        }
        value(cursor, pieces, depth + 1)?;
        start = cursor.clone();
        whitespace(cursor);
    }
    cursor.next();
    text(pieces, &start, cursor);
    Ok(())
}

fn string(cursor: &mut Cursor<'_>, pieces: &mut Vec<JsonPiece>) -> Result<(), ParseError> {
    let open = cursor.clone();
    let mut start = cursor.clone();
    cursor.next();
    loop {
        if cursor.starts_with("{{") {
            text(pieces, &start, cursor);
            pieces.push(JsonPiece::InString(placeholder(cursor)?));
            start = cursor.clone();
            continue;
        }
        let here = cursor.clone();
        match cursor.next() {
            Some('"') => break,
            Some('\\') => escape(cursor, &here)?,
            Some(control) if control < ' ' => {
                return Err(
                    here.error("a JSON string must not have line breaks and control characters: use \\n instead")
                );
            }
            Some(_) => {}
            None => return Err(open.error("expected '\"' to close the string that begins here")),
        }
    }
    text(pieces, &start, cursor);
    Ok(())
}

fn escape(cursor: &mut Cursor<'_>, here: &Cursor<'_>) -> Result<(), ParseError> {
    let fine = match cursor.next() {
        Some('"' | '\\' | '/' | 'b' | 'f' | 'n' | 'r' | 't') => true,
        Some('u') => {
            let digits = cursor.rest().as_bytes().get(..4).is_some_and(|four| four.iter().all(u8::is_ascii_hexdigit));
            if digits {
                cursor.skip(4);
            }
            digits
        }
        _ => false,
    };
    if fine { Ok(()) } else { Err(here.error("invalid escape in a JSON string")) }
}

fn whitespace(cursor: &mut Cursor<'_>) {
    cursor.eat_while(|c| matches!(c, ' ' | '\t' | '\n' | '\r'));
}

/// Adds the text between two places, to the text before it if there is one.
fn text(pieces: &mut Vec<JsonPiece>, from: &Cursor<'_>, to: &Cursor<'_>) {
    let between = &from.rest()[..from.rest().len() - to.rest().len()];
    match pieces.last_mut() {
        _ if between.is_empty() => {}
        Some(JsonPiece::Text(text)) => text.push_str(between),
        _ => pieces.push(JsonPiece::Text(between.to_owned())),
    }
}
