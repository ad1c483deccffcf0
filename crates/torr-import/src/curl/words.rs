//! Command lines as shells split them.

mod bash;
mod cmd;
mod lines;
mod output;

use crate::draft::{ImportError, LeftOut};
use lines::Line;
pub(super) use lines::Stdin;

/// A curl command.
#[derive(Debug, Default)]
pub(super) struct Words {
    /// Its words, without the word `curl`.
    pub(super) words: Vec<String>,
    /// What it reads from its standard input; `None` where that is not known.
    pub(super) stdin: Option<Stdin>,
}

/// The words of a text.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) commands: Vec<Words>,
    /// What else the text has.
    pub(super) left_out: Vec<LeftOut>,
}

/// Splits a text at its curl commands.
///
/// # Errors
/// If a quote is not closed, or the text has other commands only.
pub(super) fn commands(text: &str) -> Result<Found, ImportError> {
    of_lines(if cmd::is_cmd(text) { cmd::lines(text)? } else { bash::lines(text)? })
}

/// Returns a command whose words a shell has split already.
///
/// # Errors
/// If it is no command of curl.
pub(super) fn split(words: &[String]) -> Result<Found, ImportError> {
    of_lines(vec![Line { words: words.to_vec(), ..Line::default() }])
}

fn of_lines(lines: Vec<Line>) -> Result<Found, ImportError> {
    let mut found = Found::default();
    let mut other = None;
    let mut lines = lines.into_iter().peekable();
    // What the command before prints, and whether that is a curl command.
    let mut before: Option<Stdin> = None;
    let mut is_behind_curl = false;
    while let Some(Line { words, stdin, is_piped, .. }) = lines.next() {
        let stdin = stdin.or(before.take().filter(|_| is_piped));
        is_behind_curl &= is_piped;
        let feeds = lines.peek().is_some_and(|next| next.is_piped);
        // A prompt, or variables, may stand before the program's name.
        if let Some(at) = words.iter().take(3).position(|word| is_curl(word)) {
            found.commands.push(Words { words: words[at + 1..].to_vec(), stdin });
            before = feeds.then(|| Stdin::Unknown("the output of curl".to_owned()));
            is_behind_curl = true;
        } else if is_behind_curl {
            let mut behind = words.join(" ");
            while lines.peek().is_some_and(|next| next.is_piped && !next.words.iter().take(3).any(|word| is_curl(word)))
            {
                let next = lines.next().map(|line| line.words.join(" ")).unwrap_or_default();
                behind.push_str(&format!(" | {next}"));
            }
            let program = words.first().cloned().unwrap_or_default();
            before = Some(Stdin::Unknown(format!("the output of {program}")));
            found.left_out.push(LeftOut::new("commands behind a pipe", behind, "only requests are imported"));
        } else if let Some(first) = words.first() {
            let printed = output::of(&words, stdin);
            let is_known = feeds && !matches!(printed, Stdin::Unknown(_));
            before = Some(printed);
            if !is_known {
                found.left_out.push(LeftOut::new("commands", words.join(" "), "not a curl command"));
                other.get_or_insert_with(|| first.clone());
            }
        }
    }
    match other.filter(|_| found.commands.is_empty()) {
        Some(word) => {
            let hint = match word.as_str() {
                "Invoke-WebRequest" | "Invoke-RestMethod" | "fetch(" => "copy the request as cURL",
                _ => "it must begin with curl",
            };
            Err(ImportError(format!("'{word}' is not a curl command: {hint}")))
        }
        None => Ok(found),
    }
}

fn is_curl(word: &str) -> bool {
    let program = word.rsplit(['/', '\\']).next().unwrap_or_default();
    program == "curl" || program == "curl.exe"
}
