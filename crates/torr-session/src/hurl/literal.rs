//! Booleans and numbers.

use super::ParseError;
use super::ast::Number;
use super::cursor::Cursor;

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
        _ => Err(start.error("expected an integer")),
    }
}

/// Reads a number as JSON writes it.
pub(super) fn number(cursor: &mut Cursor<'_>) -> Result<Number, ParseError> {
    let start = cursor.clone();
    let wrong = || start.error("expected a number");
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
        return float.map(Number::Float).ok_or_else(|| start.error("the number is too large"));
    }
    Ok(text.parse().map_or_else(|_| Number::Large(text.to_owned()), Number::Integer))
}
