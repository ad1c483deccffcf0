//! Command lines for bash, with its `$'...'`, its redirections and its here-documents.

use super::lines::{Line, Lines};
use crate::curl::shell;
use crate::draft::ImportError;
use std::iter::Peekable;
use std::str::Chars;

/// The rest of a text.
type Rest<'t> = Peekable<Chars<'t>>;

/// A here-document that begins on the next line.
struct HereDocument {
    /// The number of the command that reads it.
    command: usize,
    /// The line that ends it.
    end: String,
    /// Whether the tabs at the beginning of its lines are removed: `<<-`.
    has_tabs: bool,
    /// Whether the shell puts values into it: the word that ends it has no quotes.
    is_expanded: bool,
}

/// Returns the commands of a text.
///
/// # Errors
/// If a quote or a here-document is not closed.
pub(super) fn lines(text: &str) -> Result<Vec<Line>, ImportError> {
    let mut lines = Lines::default();
    let mut here: Vec<HereDocument> = Vec::new();
    let mut rest = text.chars().peekable();
    while let Some(next) = rest.next() {
        match next {
            '\\' => match rest.next() {
                Some('\n') | None => {}
                Some('\r') => _ = rest.next_if_eq(&'\n'),
                Some(escaped) => lines.push(escaped),
            },
            '\'' => {
                let text = single(&mut rest)?;
                lines.push_text(&text);
            }
            '"' => {
                let text = double(&mut rest)?;
                lines.push_text(&text);
            }
            '$' if rest.next_if_eq(&'\'').is_some() => {
                lines.begin_word();
                loop {
                    match rest.next().ok_or_else(|| unclosed("$'"))? {
                        '\'' => break,
                        '\\' => lines.push(ansi_c(&mut rest).ok_or_else(|| unclosed("$'"))?),
                        other => lines.push(other),
                    }
                }
            }
            // Text to be translated, which is the text itself without a translation.
            '$' if rest.peek() == Some(&'"') => {}
            '$' | '`' => lines.push_text(&expansion(next, &mut rest)),
            '#' if lines.word.is_none() => while rest.next_if(|next| *next != '\n').is_some() {},
            '\n' => {
                lines.end_line();
                for document in here.drain(..) {
                    let text = document.read(&mut rest)?;
                    lines.give(document.command, text);
                }
            }
            ';' => lines.end_line(),
            '&' => {
                // Two of them, one behind a redirection, or one before it.
                if lines.is_redirected() {
                    continue;
                }
                if rest.peek() == Some(&'>') {
                    lines.end_word();
                    continue;
                }
                rest.next_if_eq(&'&');
                lines.end_line();
            }
            '|' if rest.next_if_eq(&'|').is_some() => lines.end_line(),
            '|' => {
                // With the messages as well.
                rest.next_if_eq(&'&');
                lines.pipe();
            }
            '<' if rest.peek() == Some(&'(') => lines.push_text(&expansion('$', &mut rest)),
            '<' => input(&mut rest, &mut lines, &mut here)?,
            '>' => {
                rest.next_if(|next| matches!(next, '>' | '|'));
                lines.redirect();
            }
            next if next.is_whitespace() => lines.end_word(),
            other => lines.push(other),
        }
    }
    match here.first() {
        Some(document) => Err(document.unclosed()),
        None => Ok(lines.finish()),
    }
}

fn unclosed(quote: &str) -> ImportError {
    ImportError(format!("unclosed {quote} in the command"))
}

/// Reads what stands behind `<`: a file, a word (`<<<`) or a here-document (`<<`).
fn input(rest: &mut Rest<'_>, lines: &mut Lines, here: &mut Vec<HereDocument>) -> Result<(), ImportError> {
    if rest.next_if_eq(&'<').is_none() {
        // Descriptors are no files.
        match rest.next_if_eq(&'&') {
            Some(_) => lines.redirect(),
            None => lines.read_file(),
        }
        return Ok(());
    }
    if rest.next_if_eq(&'<').is_some() {
        lines.read_word();
        return Ok(());
    }
    let has_tabs = rest.next_if_eq(&'-').is_some();
    while rest.next_if(|next| matches!(next, ' ' | '\t')).is_some() {}
    let (mut end, mut is_expanded) = (String::new(), true);
    while let Some(next) = rest.next_if(|next| !next.is_whitespace() && !";&|<>()".contains(*next)) {
        match next {
            '\'' | '"' => {
                is_expanded = false;
                end.extend(std::iter::from_fn(|| rest.next_if(|other| *other != next)));
                rest.next().ok_or_else(|| unclosed(&next.to_string()))?;
            }
            '\\' => {
                is_expanded = false;
                end.extend(rest.next());
            }
            other => end.push(other),
        }
    }
    lines.end_word();
    here.push(HereDocument { command: lines.number(), end, has_tabs, is_expanded });
    Ok(())
}

impl HereDocument {
    /// Reads the lines up to the one that ends the document.
    fn read(&self, rest: &mut Rest<'_>) -> Result<String, ImportError> {
        let mut text = String::new();
        loop {
            let mut line: String = std::iter::from_fn(|| rest.next_if(|next| *next != '\n')).collect();
            let has_end = rest.next().is_some();
            if self.has_tabs {
                line = line.trim_start_matches('\t').to_owned();
            }
            if line.strip_suffix('\r').unwrap_or(&line) == self.end {
                break;
            }
            if !has_end {
                return Err(self.unclosed());
            }
            text.push_str(&line);
            text.push('\n');
        }
        if !self.is_expanded {
            return Ok(text);
        }
        let mut expanded = String::new();
        let mut inner = text.chars().peekable();
        while let Some(next) = inner.next() {
            match next {
                '\\' => match inner.next() {
                    Some('\n') | None => {}
                    Some(escaped @ ('\\' | '$' | '`')) => expanded.push(escaped),
                    Some(other) => expanded.extend(['\\', other]),
                },
                '$' | '`' => expanded.push_str(&expansion(next, &mut inner)),
                other => expanded.push(other),
            }
        }
        Ok(expanded)
    }

    fn unclosed(&self) -> ImportError {
        ImportError(format!("unclosed here-document: expected a line '{}'", self.end))
    }
}

/// Reads what stands between single quotes.
fn single(rest: &mut Rest<'_>) -> Result<String, ImportError> {
    let text = std::iter::from_fn(|| rest.next_if(|next| *next != '\'')).collect();
    rest.next().map(|_| text).ok_or_else(|| unclosed("'"))
}

/// Reads what stands between double quotes.
fn double(rest: &mut Rest<'_>) -> Result<String, ImportError> {
    let mut text = String::new();
    loop {
        match rest.next().ok_or_else(|| unclosed("\""))? {
            '"' => return Ok(text),
            '\\' => match rest.next().ok_or_else(|| unclosed("\""))? {
                '\n' => {}
                escaped @ ('"' | '\\' | '$' | '`') => text.push(escaped),
                other => text.extend(['\\', other]),
            },
            next @ ('$' | '`') => text.push_str(&expansion(next, rest)),
            other => text.push(other),
        }
    }
}

/// Reads a variable or a command, whose value only the shell knows, and returns what stands for it; the sign itself where none
/// follows.
fn expansion(sign: char, rest: &mut Rest<'_>) -> String {
    let is_name = |next: &char| next.is_ascii_alphanumeric() || *next == '_';
    let name: String = match rest.peek().copied() {
        _ if sign == '`' => {
            let inner: String = rest.clone().take_while(|next| *next != '`').collect();
            let length = inner.chars().count();
            if rest.clone().nth(length) != Some('`') {
                return sign.to_string();
            }
            rest.nth(length);
            inner
        }
        Some(open @ ('{' | '(')) => {
            let close = if open == '{' { '}' } else { ')' };
            let Some(length) = length_within(rest.clone(), open, close) else { return sign.to_string() };
            let inner: String = rest.clone().skip(1).take(length).collect();
            // The opening and the closing one as well.
            rest.nth(length + 1);
            // A default stands behind the name.
            let plain = if close == '}' { inner.split(':').next().unwrap_or_default() } else { &inner };
            plain.to_owned()
        }
        Some(next) if next.is_ascii_alphabetic() || next == '_' => {
            std::iter::from_fn(|| rest.next_if(is_name)).collect()
        }
        // An argument of a script.
        Some(next) if next.is_ascii_digit() => format!("argument_{}", rest.next().unwrap_or_default()),
        _ => return sign.to_string(),
    };
    shell::mark(&name)
}

/// Returns how many characters stand between a brace and the one that closes it.
fn length_within(rest: Rest<'_>, open: char, close: char) -> Option<usize> {
    let mut depth = 0usize;
    for (at, next) in rest.enumerate() {
        if next == open {
            depth += 1;
        } else if next == close {
            depth = depth.checked_sub(1)?;
            if depth == 0 {
                return at.checked_sub(1);
            }
        }
    }
    None
}

/// Reads an escape of `$'...'` (bash's manual, "ANSI-C Quoting").
fn ansi_c(rest: &mut Rest<'_>) -> Option<char> {
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
        octal @ '0'..='7' => {
            let mut number = u32::from(octal) - u32::from('0');
            for _ in 0..2 {
                let Some(digit) = rest.next_if(|next| matches!(next, '0'..='7')) else { break };
                number = number * 8 + (u32::from(digit) - u32::from('0'));
            }
            return char::from_u32(number & 0xff);
        }
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

fn digits(rest: &mut Rest<'_>, most: usize) -> Option<u32> {
    let mut digits = String::new();
    while digits.len() < most {
        let Some(digit) = rest.next_if(char::is_ascii_hexdigit) else { break };
        digits.push(digit);
    }
    u32::from_str_radix(&digits, 16).ok()
}
