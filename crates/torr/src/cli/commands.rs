//! The names of commands, and words that were meant to be one.

use super::help::grammar;
use crate::exit::CliError;

/// The hint to the list of all commands.
const SEE: &str = "see 'torr help'";

/// Returns whether a word could be a command as well as the name of a host: it has no dot, port, scheme or path.
pub fn is_bare(word: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    !word.is_empty() && !word.starts_with('-') && word.chars().all(plain) && word != "localhost"
}

/// Returns the mistake, if a word that stands where a command can stand is nearly the name of one. A host of such a name
/// is not pressed by guessing: `http://` before it says that it is meant.
pub fn mistyped(word: &str) -> Option<CliError> {
    let (known, distance) = if is_bare(word) { nearest(word)? } else { return None };
    (distance > 0).then(|| {
        CliError::Usage(format!(
            "unknown command '{word}' (did you mean '{known}'? for a host of that name use 'http://{word}/')"
        ))
    })
}

/// Returns the mistake, if a word that was taken for a host is the name of a command, or nearly so.
pub fn misplaced(word: &str) -> Option<CliError> {
    if is_bare(word) && names().any(|name| name == word) {
        let usage = format!("the command '{word}' must come before all flags, as in 'torr {word} ...'");
        return Some(CliError::Usage(format!("{usage} (for a host of that name use 'http://{word}/')")));
    }
    mistyped(word)
}

/// Returns the mistake of asking for a command that there is not.
pub fn unknown(word: &str) -> CliError {
    let hint = nearest(word).map_or(SEE.to_owned(), |(known, _)| format!("did you mean '{known}'?"));
    CliError::Usage(format!("unknown command '{word}' ({hint})"))
}

/// Adds to a failure that a word was taken for a host because it is no command.
pub fn also_no_command(word: &str, stop: CliError) -> CliError {
    match stop {
        CliError::Unreachable(line) if is_bare(word) => {
            CliError::Unreachable(format!("{line}; there is no such command either ({SEE})"))
        }
        other => other,
    }
}

/// Returns the first command that has this flag, that of a target being `torr TARGET`.
pub fn with_flag(long: &str) -> Option<String> {
    let has = |command: &clap::Command| command.get_arguments().any(|arg| arg.get_long() == Some(long));
    let command = grammar();
    if has(command) {
        return Some("torr TARGET".into());
    }
    command.get_subcommands().find(|command| has(command)).map(|command| format!("torr {}", command.get_name()))
}

/// All commands, 'help' among them.
pub fn names() -> impl Iterator<Item = String> {
    grammar().get_subcommands().map(|command| command.get_name().to_owned())
}

/// Returns the command that a word is nearest to, if it is so near that hardly anything else can be meant, and by how
/// many letters they differ.
fn nearest(word: &str) -> Option<(String, usize)> {
    let word = word.to_lowercase();
    let rated = names().map(|name| (strsim::osa_distance(&word, &name), name));
    let (distance, name) = rated.min()?;
    // A short name is near to all short words.
    let most = match name.len() {
        0..=2 => 0,
        3..=4 => 1,
        _ => 2,
    };
    (distance <= most).then_some((name, distance))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_bare_words_that_are_nearly_commands_are_mistyped() {
        for (word, meant) in [
            ("docter", "doctor"),
            ("limt", "limit"),
            ("LIMTI", "limit"),
            ("serv", "serve"),
            ("hlep", "help"),
            ("wkr", "wrk"),
            ("pres", "press"),
        ] {
            let found = mistyped(word).unwrap_or_else(|| panic!("{word} was taken for a host"));
            assert!(
                matches!(&found, CliError::Usage(line) if line.contains(&format!("'{meant}'?"))),
                "{word}: {found:?}"
            );
        }
        for host in ["localhost", "api", "db", "web", "redis", "nginx", "hello", "limt.example", "limt:80", "limt/", ""]
        {
            assert_eq!(mistyped(host), None, "{host}");
            assert_eq!(misplaced(host), None, "{host}");
        }
        assert_eq!(mistyped("limit"), None);
        assert!(misplaced("limit").is_some());
    }
}
