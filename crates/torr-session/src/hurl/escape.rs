//! Escapes in strings.

use super::ParseError;
use super::cursor::Cursor;

/// Reads an escape, from its backslash on.
pub(super) fn escape(cursor: &mut Cursor<'_>) -> Result<char, ParseError> {
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
                .ok_or_else(|| start.error("expected a character's number in braces after \\u, such as \\u{20}"))?
        }
        _ => return Err(start.error("invalid escape: write a backslash as \\\\")),
    })
}
