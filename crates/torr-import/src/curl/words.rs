//! Command lines as shells split them: bash, with its `$'...'`, and cmd, with its carets.

use crate::draft::ImportError;

/// Returns the words of each curl command in a text, without the word `curl`.
///
/// # Errors
/// If a quote is not closed.
pub(super) fn commands(text: &str) -> Result<Vec<Vec<String>>, ImportError> {
    let is_cmd = text.contains("^\"") || text.contains("^\n") || text.contains("^\r\n");
    let lines = if is_cmd { cmd(text)? } else { bash(text)? };
    let is_curl = |word: &String| {
        let program = word.rsplit(['/', '\\']).next().unwrap_or_default();
        program == "curl" || program == "curl.exe"
    };
    let mut commands = Vec::new();
    for words in lines {
        // A prompt, or variables, may stand before the program's name.
        if let Some(at) = words.iter().take(3).position(is_curl) {
            commands.push(words[at + 1..].to_vec());
        } else if !words.is_empty() {
            return Err(ImportError(format!("'{}' is no curl command: it should begin with curl", words[0])));
        }
    }
    Ok(commands)
}

/// Words of lines so far.
#[derive(Default)]
struct Lines {
    lines: Vec<Vec<String>>,
    words: Vec<String>,
    word: Option<String>,
}

impl Lines {
    fn push(&mut self, next: char) {
        self.word.get_or_insert_default().push(next);
    }

    fn end_word(&mut self) {
        self.words.extend(self.word.take());
    }

    fn end_line(&mut self) {
        self.end_word();
        if !self.words.is_empty() {
            self.lines.push(std::mem::take(&mut self.words));
        }
    }

    fn finish(mut self) -> Vec<Vec<String>> {
        self.end_line();
        self.lines
    }
}

fn bash(text: &str) -> Result<Vec<Vec<String>>, ImportError> {
    let mut lines = Lines::default();
    let mut rest = text.chars().peekable();
    let unclosed = |quote: &str| ImportError(format!("a {quote} of the command is not closed"));
    while let Some(next) = rest.next() {
        match next {
            '\\' => match rest.next() {
                Some('\n') | None => {}
                Some('\r') => _ = rest.next_if_eq(&'\n'),
                Some(escaped) => lines.push(escaped),
            },
            '\'' => {
                lines.word.get_or_insert_default();
                loop {
                    match rest.next().ok_or_else(|| unclosed("'"))? {
                        '\'' => break,
                        other => lines.push(other),
                    }
                }
            }
            '"' => {
                lines.word.get_or_insert_default();
                loop {
                    match rest.next().ok_or_else(|| unclosed("\""))? {
                        '"' => break,
                        '\\' => match rest.next().ok_or_else(|| unclosed("\""))? {
                            '\n' => {}
                            escaped @ ('"' | '\\' | '$' | '`') => lines.push(escaped),
                            other => {
                                lines.push('\\');
                                lines.push(other);
                            }
                        },
                        other => lines.push(other),
                    }
                }
            }
            '$' if rest.peek() == Some(&'\'') => {
                rest.next();
                lines.word.get_or_insert_default();
                loop {
                    match rest.next().ok_or_else(|| unclosed("$'"))? {
                        '\'' => break,
                        '\\' => lines.push(ansi_c(&mut rest).ok_or_else(|| unclosed("$'"))?),
                        other => lines.push(other),
                    }
                }
            }
            '#' if lines.word.is_none() => while rest.next_if(|next| *next != '\n').is_some() {},
            '\n' | ';' => lines.end_line(),
            '&' if lines.word.is_none() => lines.end_line(),
            next if next.is_whitespace() => lines.end_word(),
            other => lines.push(other),
        }
    }
    Ok(lines.finish())
}

/// Reads an escape of `$'...'` (bash's manual, "ANSI-C Quoting").
fn ansi_c(rest: &mut std::iter::Peekable<std::str::Chars<'_>>) -> Option<char> {
    let most = match rest.next()? {
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
    let digits: String = std::iter::from_fn(|| rest.next_if(char::is_ascii_hexdigit)).take(most).collect();
    Some(u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32).unwrap_or(char::REPLACEMENT_CHARACTER))
}

fn cmd(text: &str) -> Result<Vec<Vec<String>>, ImportError> {
    let mut lines = Lines::default();
    // First the carets, as cmd removes them, then the quotes, as C's runtime reads them.
    let mut plain = String::new();
    let mut rest = text.chars().peekable();
    while let Some(next) = rest.next() {
        match next {
            '^' => match rest.next() {
                Some('\r') => _ = rest.next_if_eq(&'\n'),
                Some('\n') | None => {}
                Some(escaped) => plain.push(escaped),
            },
            other => plain.push(other),
        }
    }
    let mut rest = plain.chars().peekable();
    let mut is_quoted = false;
    while let Some(next) = rest.next() {
        match next {
            '\\' if rest.peek() == Some(&'"') => lines.push(rest.next().unwrap_or('"')),
            '"' if is_quoted && rest.peek() == Some(&'"') => lines.push(rest.next().unwrap_or('"')),
            '"' => {
                is_quoted = !is_quoted;
                lines.word.get_or_insert_default();
            }
            '\n' if !is_quoted => lines.end_line(),
            '&' if !is_quoted && lines.word.is_none() => lines.end_line(),
            next if next.is_whitespace() && !is_quoted => lines.end_word(),
            other => lines.push(other),
        }
    }
    if is_quoted { Err(ImportError("a \" of the command is not closed".to_owned())) } else { Ok(lines.finish()) }
}
