//! Command lines as shells split them.

mod bash;
mod cmd;
mod lines;

use crate::draft::{ImportError, LeftOut};
use lines::Line;

/// The words of a text.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// The words of each curl command, without the word `curl`.
    pub(super) commands: Vec<Vec<String>>,
    /// What else the text has.
    pub(super) left_out: Vec<LeftOut>,
}

/// Splits a text at its curl commands.
///
/// # Errors
/// If a quote is not closed, or the text has other commands only.
pub(super) fn commands(text: &str) -> Result<Found, ImportError> {
    let lines = if cmd::is_cmd(text) { cmd::lines(text)? } else { bash::lines(text)? };
    let mut found = Found::default();
    let mut other = None;
    for Line { words, piped } in lines {
        let behind = |piped: &str| LeftOut::new("commands behind a pipe", piped, "only requests are carried over");
        found.left_out.extend(piped.as_deref().filter(|piped| !piped.is_empty()).map(behind));
        // A prompt, or variables, may stand before the program's name.
        if let Some(at) = words.iter().take(3).position(|word| is_curl(word)) {
            found.commands.push(words[at + 1..].to_vec());
        } else if let Some(first) = words.first() {
            found.left_out.push(LeftOut::new("commands", words.join(" "), "not of curl"));
            other.get_or_insert_with(|| first.clone());
        }
    }
    match other.filter(|_| found.commands.is_empty()) {
        Some(word) => {
            let hint = match word.as_str() {
                "Invoke-WebRequest" | "Invoke-RestMethod" | "fetch(" => "copy the request as cURL",
                _ => "it should begin with curl",
            };
            Err(ImportError(format!("'{word}' is no curl command: {hint}")))
        }
        None => Ok(found),
    }
}

fn is_curl(word: &str) -> bool {
    let program = word.rsplit(['/', '\\']).next().unwrap_or_default();
    program == "curl" || program == "curl.exe"
}
