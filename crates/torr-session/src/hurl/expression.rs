//! What stands between `{{` and `}}`.

use super::ParseError;
use super::ast::{Expression, Source};
use super::cursor::Cursor;
use super::filter::filters;
use super::template::quoted;

/// Reads a placeholder, from its first brace to its last.
pub(super) fn placeholder(cursor: &mut Cursor<'_>) -> Result<Expression, ParseError> {
    let start = cursor.clone();
    if !cursor.eat("{{") {
        return Err(start.error("a placeholder such as {{name}} should stand here"));
    }
    cursor.spaces();
    let at = cursor.position();
    let source = source(cursor)?;
    let filters = filters(cursor)?;
    cursor.spaces();
    if !cursor.eat("}}") {
        return Err(cursor.error("the placeholder should end here with }}"));
    }
    Ok(Expression { source, filters, at })
}

/// Reads a variable's name.
pub(super) fn variable_name(cursor: &mut Cursor<'_>) -> Result<String, ParseError> {
    let start = cursor.clone();
    let name = cursor.eat_while(|c| c.is_alphanumeric() || c == '_' || c == '-');
    if name.is_empty() { Err(start.error("a variable's name should stand here")) } else { Ok(name.to_owned()) }
}

fn source(cursor: &mut Cursor<'_>) -> Result<Source, ParseError> {
    let start = cursor.clone();
    Ok(match variable_name(cursor)?.as_str() {
        "newUuid" => Source::NewUuid,
        "newDate" => Source::NewDate,
        "getEnv" => {
            cursor.spaces();
            let name = quoted(cursor)?;
            let literal = name.literal().map(str::to_owned);
            Source::Environment(literal.ok_or_else(|| start.error("getEnv takes a name without placeholders"))?)
        }
        name => Source::Variable(name.to_owned()),
    })
}
