//! Text between fences of three backticks.

use super::ast::Template;
use super::cursor::Cursor;
use super::escape::escape;
use super::pieces::Pieces;
use super::template::placeholder;
use super::{ParseError, Position};

/// Reads the text between fences of three backticks: verbatim, but for placeholders.
pub(super) fn fenced(text: &str, at: Position, placeholders: bool, escapes: bool) -> Result<Template, ParseError> {
    let mut pieces = Pieces::default();
    let mut cursor = Cursor::new(text);
    let here = |error: ParseError| ParseError { at: moved(at, error.at), message: error.message };
    while let Some(next) = cursor.peek() {
        if placeholders && cursor.starts_with("{{") {
            let at = moved(at, cursor.position());
            let mut expression = placeholder(&mut cursor).map_err(here)?;
            expression.at = at;
            pieces.placeholder(expression);
        } else if escapes && next == '\\' {
            pieces.text(escape(&mut cursor).map_err(here)?);
        } else {
            cursor.next();
            pieces.text(next);
        }
    }
    Ok(pieces.finish())
}

/// Returns a place in the file, from the place of a text and a place in that text.
fn moved(start: Position, within: Position) -> Position {
    let column = if within.line == 1 { start.column + within.column - 1 } else { within.column };
    Position { line: start.line + within.line - 1, column }
}
