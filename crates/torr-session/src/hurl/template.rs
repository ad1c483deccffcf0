//! Text with placeholders: strings, which differ in where they end, the expressions in them, and the filters of expressions, whose
//! arguments are such strings again.

use super::ParseError;
use super::ast::{Expression, Filter, Index, Pattern, Source, Template};
use super::cursor::Cursor;
use super::escape::escape;
use super::filter::PLAIN;
use super::literal::integer;
use super::pieces::Pieces;

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
    if template.0.is_empty() { Err(start.error("expected a name")) } else { Ok(template) }
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
fn file_name(cursor: &mut Cursor<'_>) -> Result<Template, ParseError> {
    let start = cursor.clone();
    let template = text(cursor, Kind::FileName)?;
    if template.0.is_empty() { Err(start.error("expected the name of a file")) } else { Ok(template) }
}

fn delimited(cursor: &mut Cursor<'_>, delimiter: char, kind: Kind) -> Result<Template, ParseError> {
    let start = cursor.clone();
    if cursor.next() != Some(delimiter) {
        return Err(start.error(format!("expected a string in {delimiter}")));
    }
    let template = text(cursor, kind)?;
    if cursor.next() == Some(delimiter) {
        Ok(template)
    } else {
        Err(start.error(format!("expected {delimiter} to close the string that begins here")))
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

/// Reads `file,NAME;`.
pub(super) fn file(cursor: &mut Cursor<'_>) -> Result<Template, ParseError> {
    cursor.eat("file,");
    cursor.spaces();
    let name = file_name(cursor)?;
    cursor.spaces();
    if cursor.eat(";") { Ok(name) } else { Err(cursor.error("expected ';' after the name of the file")) }
}

/// Reads a placeholder, from its first brace to its last.
pub(super) fn placeholder(cursor: &mut Cursor<'_>) -> Result<Expression, ParseError> {
    let start = cursor.clone();
    if !cursor.eat("{{") {
        return Err(start.error("expected a placeholder such as {{name}}"));
    }
    cursor.spaces();
    let at = cursor.position();
    let source = source(cursor)?;
    let filters = filters(cursor)?;
    cursor.spaces();
    if !cursor.eat("}}") {
        return Err(cursor.error("expected }} to close the placeholder"));
    }
    Ok(Expression { source, filters, at })
}

/// Reads a variable's name.
pub(super) fn variable_name(cursor: &mut Cursor<'_>) -> Result<String, ParseError> {
    let start = cursor.clone();
    let name = cursor.eat_while(|c| c.is_alphanumeric() || c == '_' || c == '-');
    if name.is_empty() { Err(start.error("expected the name of a variable")) } else { Ok(name.to_owned()) }
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
            Source::Environment(literal.ok_or_else(|| start.error("getEnv needs a name without placeholders"))?)
        }
        name => Source::Variable(name.to_owned()),
    })
}

/// Reads filters as long as there are any, each after a space.
pub(super) fn filters(cursor: &mut Cursor<'_>) -> Result<Vec<Filter>, ParseError> {
    let mut filters = Vec::new();
    loop {
        let mut ahead = cursor.clone();
        if !ahead.spaces() {
            return Ok(filters);
        }
        match filter(&mut ahead)? {
            Some(filter) => filters.push(filter),
            None => return Ok(filters),
        }
        *cursor = ahead;
    }
}

/// Reads one filter, or nothing where no filter's name stands.
fn filter(cursor: &mut Cursor<'_>) -> Result<Option<Filter>, ParseError> {
    if let Some((_, filter)) = PLAIN.iter().find(|(name, _)| cursor.eat_word(name)) {
        return Ok(Some(filter.clone()));
    }
    let start = cursor.clone();
    let name = cursor.eat_while(|c| c.is_alphanumeric());
    cursor.spaces();
    Ok(Some(match name {
        "dateFormat" | "format" => Filter::DateFormat(quoted(cursor)?),
        "charsetDecode" | "decode" => Filter::Decode(quoted(cursor)?),
        "jsonpath" => Filter::JsonPath(quoted(cursor)?),
        "nth" if cursor.starts_with("{{") => Filter::Nth(Index::Placeholder(placeholder(cursor)?)),
        "nth" => Filter::Nth(Index::Number(integer(cursor)?)),
        "regex" => Filter::Regex(pattern(cursor)?),
        "replace" => {
            // An earlier version took a pattern here.
            if cursor.starts_with("/") {
                let pattern = pattern(cursor)?;
                cursor.spaces();
                Filter::ReplaceRegex(pattern, quoted(cursor)?)
            } else {
                let old = quoted(cursor)?;
                cursor.spaces();
                Filter::Replace(old, quoted(cursor)?)
            }
        }
        "replaceRegex" => {
            let pattern = pattern(cursor)?;
            cursor.spaces();
            Filter::ReplaceRegex(pattern, quoted(cursor)?)
        }
        "split" => Filter::Split(quoted(cursor)?),
        "toDate" => Filter::ToDate(quoted(cursor)?),
        "urlQueryParam" => Filter::UrlQueryParameter(quoted(cursor)?),
        "xpath" => Filter::XPath(quoted(cursor)?),
        _ => {
            *cursor = start;
            return Ok(None);
        }
    }))
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
            Some('\n') | None => return Err(start.error("expected '/' to close the pattern that begins here")),
            Some(next) => pattern.push(next),
        }
    }
}
