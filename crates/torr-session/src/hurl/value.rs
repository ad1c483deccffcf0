//! Values, numbers and patterns.

use super::ParseError;
use super::ast::{Body, Number, Pattern, Value};
use super::body::{Fence, base64, fence, hex};
use super::cursor::Cursor;
use super::expression::placeholder;
use super::template::{backtick, file_name, quoted};

/// Reads the value that a predicate compares with.
pub(super) fn value(cursor: &mut Cursor<'_>) -> Result<Value, ParseError> {
    if cursor.eat_word("null") {
        Ok(Value::Null)
    } else if let Some(boolean) = boolean(cursor) {
        Ok(Value::Boolean(boolean))
    } else if cursor.starts_with("{{") {
        Ok(Value::Placeholder(placeholder(cursor)?))
    } else if cursor.starts_with("\"") {
        Ok(Value::Text(quoted(cursor)?))
    } else if cursor.starts_with("```") {
        Ok(match fence(cursor)? {
            (text, Fence::Text(_)) => Value::Text(text),
            (query, Fence::GraphQl(variables)) => Value::Content(Box::new(Body::GraphQl { query, variables })),
        })
    } else if cursor.starts_with("`") {
        Ok(Value::Text(backtick(cursor)?))
    } else if cursor.starts_with("hex,") {
        Ok(Value::Bytes(hex(cursor)?))
    } else if cursor.starts_with("base64,") {
        Ok(Value::Bytes(base64(cursor)?))
    } else if cursor.starts_with("file,") {
        Ok(Value::File(file(cursor)?))
    } else if cursor.peek().is_some_and(|next| next == '-' || next.is_ascii_digit()) {
        Ok(Value::Number(number(cursor)?))
    } else {
        Err(cursor
            .error("a value should stand here: a string in double quotes, a number, true, false, null or {{name}}"))
    }
}

/// Reads `file,NAME;`.
pub(super) fn file(cursor: &mut Cursor<'_>) -> Result<super::ast::Template, ParseError> {
    cursor.eat("file,");
    cursor.spaces();
    let name = file_name(cursor)?;
    cursor.spaces();
    if cursor.eat(";") { Ok(name) } else { Err(cursor.error("the name of the file should end here with ;")) }
}

/// Reads `true` or `false`, if one stands here.
pub(super) fn boolean(cursor: &mut Cursor<'_>) -> Option<bool> {
    let is_true = cursor.eat_word("true");
    (is_true || cursor.eat_word("false")).then_some(is_true)
}

/// Reads an integer.
pub(super) fn integer(cursor: &mut Cursor<'_>) -> Result<i64, ParseError> {
    let start = cursor.clone();
    match number(cursor) {
        Ok(Number::Integer(integer)) => Ok(integer),
        _ => Err(start.error("an integer should stand here")),
    }
}

/// Reads a number as JSON writes it.
pub(super) fn number(cursor: &mut Cursor<'_>) -> Result<Number, ParseError> {
    let start = cursor.clone();
    let wrong = || start.error("a number should stand here");
    let digits = |cursor: &mut Cursor<'_>| !cursor.eat_while(|c| c.is_ascii_digit()).is_empty();
    cursor.eat("-");
    if !digits(cursor) {
        return Err(wrong());
    }
    let mut is_float = false;
    if cursor.starts_with(".") {
        cursor.eat(".");
        is_float = true;
        if !digits(cursor) {
            return Err(wrong());
        }
    }
    if cursor.eat("e") || cursor.eat("E") {
        is_float = true;
        let _sign = cursor.eat("+") || cursor.eat("-");
        if !digits(cursor) {
            return Err(wrong());
        }
    }
    let text = &start.rest()[..start.rest().len() - cursor.rest().len()];
    if is_float {
        let float = text.parse().ok().filter(|float: &f64| float.is_finite());
        return float.map(Number::Float).ok_or_else(|| start.error("this number is too large"));
    }
    Ok(text.parse().map_or_else(|_| Number::Large(text.to_owned()), Number::Integer))
}

/// Reads a regular expression, as a string or between slashes.
pub(super) fn pattern(cursor: &mut Cursor<'_>) -> Result<Pattern, ParseError> {
    let start = cursor.clone();
    if cursor.starts_with("`") {
        return backtick(cursor).map(Pattern::Template);
    }
    if !cursor.eat("/") {
        return quoted(cursor).map(Pattern::Template);
    }
    let mut pattern = String::new();
    loop {
        match cursor.next() {
            Some('/') => return Ok(Pattern::Literal(pattern)),
            // Only the slash is escaped for the file's sake: every other escape is the pattern's own.
            Some('\\') if cursor.eat("/") => pattern.push('/'),
            Some('\\') => {
                pattern.push('\\');
                pattern.extend(cursor.next());
            }
            Some('\n') | None => return Err(start.error("the pattern that begins here has no closing /")),
            Some(next) => pattern.push(next),
        }
    }
}
