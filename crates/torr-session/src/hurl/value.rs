//! Values that predicates compare with.

use super::ParseError;
use super::ast::{Body, Value};
use super::body::{Fence, base64, fence, hex};
use super::cursor::Cursor;
use super::literal::{boolean, number};
use super::template::{backtick, file, placeholder, quoted};

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
        Err(cursor.error("expected a value: a string in double quotes, a number, true, false, null or {{name}}"))
    }
}
