//! Command lines for cmd of Windows, with its carets.

use super::lines::{Line, Lines};
use crate::draft::ImportError;

/// Whether a text is written for cmd: its lines go on with a caret, browsers have copied it, which escape quotes by carets, or it
/// writes a quote within quotes as two.
pub(super) fn is_cmd(text: &str) -> bool {
    let first = text.lines().find(|line| line.contains("curl")).unwrap_or_default();
    let ends_with = |end: &str| text.lines().any(|line| line.trim_end_matches('\r').ends_with(end));
    // Single quotes, `$'` and backslashes at line ends are of other shells.
    let is_other = ends_with(" \\") || text.contains(" '") || text.contains("='") || text.contains("$'");
    ends_with(" ^") || first.contains(" ^\"") || !is_other && (text.contains("^\\^\"") || has_doubled_quotes(text))
}

/// Whether two quotes within quotes stand for one: `"{""name"":""value""}"`.
fn has_doubled_quotes(text: &str) -> bool {
    let mut rest = text.chars().peekable();
    let (mut is_quoted, mut before) = (false, ' ');
    while let Some(next) = rest.next() {
        match next {
            // Of another shell.
            '\\' => _ = rest.next(),
            '"' if is_quoted && rest.peek() == Some(&'"') => {
                rest.next();
                // An empty word, and the end of a word that ends with a quote, are of every shell.
                if before != '"' && rest.peek().is_some_and(|next| !next.is_whitespace()) {
                    return true;
                }
            }
            '"' => is_quoted = !is_quoted,
            _ => {}
        }
        before = next;
    }
    false
}

/// Returns the commands of a text.
///
/// # Errors
/// If a quote is not closed.
pub(super) fn lines(text: &str) -> Result<Vec<Line>, ImportError> {
    let mut lines = Lines::default();
    // Browsers double every backslash, C's runtime only takes those before quotes for doubled.
    let is_browsers = text.contains("^\"");
    let plain = without_carets(text);
    let mut rest = plain.chars().peekable();
    let mut is_quoted = false;
    while let Some(next) = rest.next() {
        match next {
            '\\' => {
                let mut count = 1;
                while rest.next_if_eq(&'\\').is_some() {
                    count += 1;
                }
                let is_before_quote = rest.peek() == Some(&'"');
                let kept = match (is_before_quote, is_browsers) {
                    (true, _) => count / 2,
                    (false, true) => count - count / 2,
                    (false, false) => count,
                };
                (0..kept).for_each(|_| lines.push('\\'));
                if is_before_quote && count % 2 == 1 {
                    rest.next();
                    lines.push('"');
                }
            }
            '"' if is_quoted && rest.peek() == Some(&'"') => lines.push(rest.next().unwrap_or('"')),
            '"' => {
                is_quoted = !is_quoted;
                lines.begin_word();
            }
            '\r' if rest.peek() == Some(&'\n') => {}
            '\n' if !is_quoted => lines.end_line(),
            '&' if !is_quoted => {
                if !lines.is_redirected() {
                    rest.next_if_eq(&'&');
                    lines.end_line();
                }
            }
            '|' if !is_quoted => lines.pipe(),
            '<' if !is_quoted => lines.read_file(),
            '>' if !is_quoted => {
                rest.next_if_eq(&'>');
                lines.redirect();
            }
            next if next.is_whitespace() && !is_quoted => lines.end_word(),
            other => lines.push(other),
        }
    }
    if is_quoted { Err(ImportError("unclosed \" in the command".to_owned())) } else { Ok(lines.finish()) }
}

/// Removes carets as cmd does: within quotes that no caret escapes they are text. Earlier browsers wrote carets within such quotes
/// too and meant them as escapes.
fn without_carets(text: &str) -> String {
    let escapes_all = text.contains("^\\^\"");
    let mut plain = String::new();
    let mut rest = text.chars().peekable();
    let mut is_quoted = false;
    while let Some(next) = rest.next() {
        match next {
            '^' if !is_quoted || escapes_all => match rest.next() {
                Some('\r') => _ = rest.next_if_eq(&'\n'),
                Some('\n') | None => {}
                Some(escaped) => plain.push(escaped),
            },
            other => {
                // A line ends the quotes of cmd.
                is_quoted = (is_quoted ^ (other == '"')) && other != '\n';
                plain.push(other);
            }
        }
    }
    plain
}
