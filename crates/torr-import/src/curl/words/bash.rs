//! Command lines for bash, with its `$'...'`.

use super::lines::{Line, Lines};
use crate::curl::shell;
use crate::draft::ImportError;
use std::iter::Peekable;
use std::str::Chars;

/// Returns the commands of a text.
///
/// # Errors
/// If a quote is not closed.
pub(super) fn lines(text: &str) -> Result<Vec<Line>, ImportError> {
    let mut lines = Lines::default();
    let mut rest = text.chars().peekable();
    while let Some(next) = rest.next() {
        match next {
            '\\' => match rest.next() {
                Some('\n') | None => {}
                Some('\r') => _ = rest.next_if_eq(&'\n'),
                Some(escaped) => lines.push(escaped),
            },
            '\'' => {
                lines.begin_word();
                loop {
                    match rest.next().ok_or_else(|| unclosed("'"))? {
                        '\'' => break,
                        other => lines.push(other),
                    }
                }
            }
            '"' => double(&mut rest, &mut lines)?,
            '$' if rest.peek() == Some(&'\'') => {
                rest.next();
                lines.begin_word();
                loop {
                    match rest.next().ok_or_else(|| unclosed("$'"))? {
                        '\'' => break,
                        '\\' => lines.push(ansi_c(&mut rest).ok_or_else(|| unclosed("$'"))?),
                        other => lines.push(other),
                    }
                }
            }
            '$' => expand(&mut rest, &mut lines),
            '#' if lines.word.is_none() => while rest.next_if(|next| *next != '\n').is_some() {},
            '\n' | ';' => lines.end_line(),
            '&' => {
                // Two of them, or one behind a redirection.
                if lines.is_redirected {
                    continue;
                }
                rest.next_if_eq(&'&');
                lines.end_line();
            }
            '|' if rest.next_if_eq(&'|').is_some() => lines.end_line(),
            '|' => lines.pipe(),
            '>' => {
                rest.next_if_eq(&'>');
                lines.redirect();
            }
            next if next.is_whitespace() => lines.end_word(),
            other => lines.push(other),
        }
    }
    Ok(lines.finish())
}

fn unclosed(quote: &str) -> ImportError {
    ImportError(format!("a {quote} of the command is not closed"))
}

/// Reads what stands between double quotes.
fn double(rest: &mut Peekable<Chars<'_>>, lines: &mut Lines) -> Result<(), ImportError> {
    lines.begin_word();
    loop {
        match rest.next().ok_or_else(|| unclosed("\""))? {
            '"' => return Ok(()),
            '\\' => match rest.next().ok_or_else(|| unclosed("\""))? {
                '\n' => {}
                escaped @ ('"' | '\\' | '$' | '`') => lines.push(escaped),
                other => {
                    lines.push('\\');
                    lines.push(other);
                }
            },
            '$' => expand(rest, lines),
            other => lines.push(other),
        }
    }
}

/// Reads a variable or a command behind `$`, whose value only the shell knows.
fn expand(rest: &mut Peekable<Chars<'_>>, lines: &mut Lines) {
    let is_name = |next: &char| next.is_ascii_alphanumeric() || *next == '_';
    let name: String = match rest.peek() {
        Some(open @ ('{' | '(')) => {
            let close = if *open == '{' { '}' } else { ')' };
            let inner: String = rest.clone().skip(1).take_while(|next| *next != close).collect();
            if rest.clone().nth(inner.chars().count() + 1) != Some(close) {
                return lines.push('$');
            }
            // The opening and the closing one as well.
            rest.nth(inner.chars().count() + 1);
            // A default stands behind the name.
            let plain = if close == '}' { inner.split(':').next().unwrap_or_default() } else { &inner };
            plain.to_owned()
        }
        Some(next) if next.is_ascii_alphabetic() || *next == '_' => {
            std::iter::from_fn(|| rest.next_if(is_name)).collect()
        }
        _ => return lines.push('$'),
    };
    shell::mark(&name).chars().for_each(|next| lines.push(next));
}

/// Reads an escape of `$'...'` (bash's manual, "ANSI-C Quoting").
fn ansi_c(rest: &mut Peekable<Chars<'_>>) -> Option<char> {
    let first = rest.next()?;
    let most = match first {
        'a' => return Some('\u{7}'),
        'b' => return Some('\u{8}'),
        'e' | 'E' => return Some('\u{1b}'),
        'f' => return Some('\u{c}'),
        'n' => return Some('\n'),
        'r' => return Some('\r'),
        't' => return Some('\t'),
        'v' => return Some('\u{b}'),
        'x' => 2,
        'u' => 4,
        'U' => 8,
        plain => return Some(plain),
    };
    let number = digits(rest, most);
    // Browsers write a character beyond 16 bits as two.
    if first == 'u' && matches!(number, Some(0xd800..0xdc00)) {
        let mut ahead = rest.clone();
        let is_next = ahead.next() == Some('\\') && ahead.next() == Some('u');
        if let Some(low @ 0xdc00..0xe000) = is_next.then(|| digits(&mut ahead, 4)).flatten() {
            *rest = ahead;
            let number = number.map(|high| 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00));
            return number.and_then(char::from_u32);
        }
    }
    Some(number.and_then(char::from_u32).unwrap_or(char::REPLACEMENT_CHARACTER))
}

fn digits(rest: &mut Peekable<Chars<'_>>, most: usize) -> Option<u32> {
    let digits: String = std::iter::from_fn(|| rest.next_if(char::is_ascii_hexdigit)).take(most).collect();
    u32::from_str_radix(&digits, 16).ok()
}
