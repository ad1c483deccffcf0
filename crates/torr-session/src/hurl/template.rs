//! Strings of the format: text with escapes and placeholders, which differ in where they end.

use super::ast::{Piece, Template};
use super::cursor::Cursor;
use super::expression::placeholder;
use super::{ParseError, Position};

/// A kind of string.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// The name of a field, a variable or a parameter.
    Key,
    /// The rest of a line, without trailing spaces and comment.
    Line,
    /// Up to the next `"`, over several lines if need be.
    Quoted,
    /// Up to the next backtick on the line.
    Backtick,
    /// The name of a file: up to a space or `;`.
    FileName,
}

impl Kind {
    fn ends_at(self, next: char) -> bool {
        match self {
            Self::Key => !(next.is_alphanumeric() || "_-.[]@$".contains(next)),
            Self::Line => matches!(next, '#' | '\n' | '\r'),
            Self::Quoted => next == '"',
            Self::Backtick => matches!(next, '`' | '\n'),
            Self::FileName => matches!(next, '#' | ';' | ' ' | '\t' | '\n' | '\r'),
        }
    }
}

/// Reads a name.
pub(super) fn key(cursor: &mut Cursor<'_>) -> Result<Template, ParseError> {
    let start = cursor.clone();
    let template = text(cursor, Kind::Key)?;
    if template.0.is_empty() { Err(start.error("a name should stand here")) } else { Ok(template) }
}

/// Reads the rest of a line.
pub(super) fn line(cursor: &mut Cursor<'_>) -> Result<Template, ParseError> {
    text(cursor, Kind::Line)
}

/// Reads a string in double quotes.
pub(super) fn quoted(cursor: &mut Cursor<'_>) -> Result<Template, ParseError> {
    delimited(cursor, '"', Kind::Quoted)
}

/// Reads a string in backticks.
pub(super) fn backtick(cursor: &mut Cursor<'_>) -> Result<Template, ParseError> {
    delimited(cursor, '`', Kind::Backtick)
}

/// Reads the name of a file.
pub(super) fn file_name(cursor: &mut Cursor<'_>) -> Result<Template, ParseError> {
    let start = cursor.clone();
    let template = text(cursor, Kind::FileName)?;
    if template.0.is_empty() { Err(start.error("the name of a file should stand here")) } else { Ok(template) }
}

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

fn delimited(cursor: &mut Cursor<'_>, delimiter: char, kind: Kind) -> Result<Template, ParseError> {
    let start = cursor.clone();
    if cursor.next() != Some(delimiter) {
        return Err(start.error(format!("a string in {delimiter} should stand here")));
    }
    let template = text(cursor, kind)?;
    if cursor.next() == Some(delimiter) {
        Ok(template)
    } else {
        Err(start.error(format!("the string that begins here has no closing {delimiter}")))
    }
}

fn text(cursor: &mut Cursor<'_>, kind: Kind) -> Result<Template, ParseError> {
    let mut pieces = Pieces::default();
    // Spaces at a line's end belong to the line, and so do not count until something follows.
    let mut trailing = cursor.clone();
    while let Some(next) = cursor.peek() {
        if cursor.starts_with("{{") {
            pieces.spaces(&trailing, cursor);
            let expression = placeholder(cursor)?;
            pieces.placeholder(expression);
        } else if next == '\\' {
            pieces.spaces(&trailing, cursor);
            pieces.text(escape(cursor)?);
        } else if kind.ends_at(next) {
            break;
        } else if kind == Kind::Line && matches!(next, ' ' | '\t') {
            cursor.next();
            continue;
        } else {
            pieces.spaces(&trailing, cursor);
            cursor.next();
            pieces.text(next);
        }
        trailing = cursor.clone();
    }
    *cursor = trailing;
    Ok(pieces.finish())
}

/// Reads an escape, from its backslash on.
fn escape(cursor: &mut Cursor<'_>) -> Result<char, ParseError> {
    let start = cursor.clone();
    cursor.next();
    Ok(match cursor.next() {
        Some(plain @ ('#' | ':' | '"' | '`' | '\\' | '/' | '{' | '}' | ';' | ' ')) => plain,
        Some('b') => '\u{8}',
        Some('f') => '\u{c}',
        Some('n') => '\n',
        Some('r') => '\r',
        Some('t') => '\t',
        Some('u') => {
            let digits = cursor.eat("{").then(|| cursor.eat_while(|c| c.is_ascii_hexdigit()));
            let code = digits.filter(|_| cursor.eat("}")).and_then(|digits| u32::from_str_radix(digits, 16).ok());
            let character = code.and_then(char::from_u32);
            character
                .ok_or_else(|| start.error("\\u is followed by a character's number in braces, such as \\u{20}"))?
        }
        _ => return Err(start.error("this is no escape: write \\\\ for a backslash")),
    })
}

/// The pieces of a template so far.
#[derive(Default)]
struct Pieces(Vec<Piece>);

impl Pieces {
    fn text(&mut self, next: char) {
        match self.0.last_mut() {
            Some(Piece::Text(text)) => text.push(next),
            _ => self.0.push(Piece::Text(next.into())),
        }
    }

    fn spaces(&mut self, from: &Cursor<'_>, to: &Cursor<'_>) {
        let spaces = from.rest().len() - to.rest().len();
        from.rest()[..spaces].chars().for_each(|space| self.text(space));
    }

    fn placeholder(&mut self, expression: super::ast::Expression) {
        self.0.push(Piece::Placeholder(expression));
    }

    fn finish(self) -> Template {
        Template(self.0)
    }
}
