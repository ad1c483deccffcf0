//! Command lines of curl, as people type them and as browsers copy them for bash and for cmd.

mod agree;
mod command;
mod cookies;
mod data;
mod flags;
mod form;
mod glob;
mod request;
mod shell;
mod words;

use crate::draft::{Draft, ImportError, LeftOut};
use crate::secret::Secrets;
use crate::variables::without_value;
use command::Command;
pub use data::ReadFile;
use words::{Found, Words};

/// Imports a command line, or several one below the other, without the files that they name.
///
/// # Errors
/// If the text is no command line of curl, or has no URL.
pub fn import(text: &str) -> Result<Draft, ImportError> {
    import_with(text, &|_| Err("files are not available here".to_owned()))
}

/// Imports a command line, or several one below the other. Files are read where what is sent depends on them: curl removes line
/// ends from some, and takes others for text.
///
/// # Errors
/// If the text is no command line of curl, or has no URL.
pub fn import_with(text: &str, read: ReadFile<'_>) -> Result<Draft, ImportError> {
    of_commands(words::commands(text)?, read)
}

/// Imports a command whose words a shell has split already, from `curl` on.
///
/// # Errors
/// If it is no command of curl, or has no URL.
pub fn import_words(words: &[String], read: ReadFile<'_>) -> Result<Draft, ImportError> {
    of_commands(words::split(words)?, read)
}

/// Whether a word is a whole command, as people paste it between quotes.
pub fn is_command(text: &str) -> bool {
    let text = text.trim_start();
    let text = text.strip_prefix("$ ").unwrap_or(text);
    text.strip_prefix("curl").is_some_and(|rest| {
        let rest = rest.strip_prefix(".exe").unwrap_or(rest);
        rest.starts_with(char::is_whitespace) && !rest.trim().is_empty()
    })
}

fn of_commands(found: Found, read: ReadFile<'_>) -> Result<Draft, ImportError> {
    let mut names: Vec<&str> = found.commands.iter().flat_map(texts).flat_map(shell::names).collect();
    names.sort_unstable();
    names.dedup();
    let mut secrets = Secrets::beside(names.iter().map(|name| (*name).to_owned()).collect());
    let mut draft = Draft { left_out: found.left_out.clone(), ..Draft::default() };
    let mut mistake = None;
    let mut cookies = cookies::Cookies::default();
    for Words { words, stdin } in &found.commands {
        for words in split_at_next(words) {
            let entries = Command::read(words, stdin.clone(), read).and_then(|command| {
                let mut entries = request::entries(&command, read, &mut secrets)?;
                cookies.apply(&command, &mut entries);
                Ok(entries)
            });
            match entries {
                Ok(entries) => draft.entries.extend(entries),
                Err(error) => {
                    draft.left_out.push(LeftOut::new("commands", shell::shown(&words.join(" ")), error.0.clone()));
                    mistake.get_or_insert(error);
                }
            }
        }
    }
    if draft.entries.is_empty() {
        let none = ImportError("expected a command that begins with curl".to_owned());
        return Err(mistake.unwrap_or(none));
    }
    cookies::tidy(&mut draft.entries);
    agree::with_each_other(&mut draft.entries);
    draft.notes = names.iter().map(|name| without_value(name)).collect();
    draft.secrets = secrets.finish();
    Ok(draft)
}

/// Returns the texts of a command in which variables of the shell may stand.
fn texts(words: &Words) -> impl Iterator<Item = &str> {
    let stdin = match &words.stdin {
        Some(words::Stdin::Text(text)) => Some(text.as_str()),
        _ => None,
    };
    words.words.iter().map(String::as_str).chain(stdin)
}

/// Splits the words of a command at `--next`, which begins another request.
fn split_at_next(words: &[String]) -> Vec<&[String]> {
    words.split(|word| word == "--next" || word == "-:").collect()
}

#[cfg(test)]
mod tests;
