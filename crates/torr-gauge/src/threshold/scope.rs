//! The part of a run that a rule is about: all requests, those of an entry, sessions, or the events of streams.

use super::error::MisplacedRuleError;
use crate::sessions::EntryName;

/// The most names that a message lists.
const MOST_NAMES: usize = 12;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Scope {
    /// All requests.
    Run,
    /// The requests of all entries of a name, or of the entry at `FILE:LINE`.
    Entry(String),
    /// Sessions as a whole.
    Sessions,
    /// The first events of streams.
    FirstEvents,
    /// The gaps between the events of streams.
    Gaps,
    /// The first tokens of streams.
    FirstTokens,
    /// The gaps between the tokens of streams.
    TokenGaps,
}

/// The prefixes of metrics of times, with what they are the times of.
pub(super) const PREFIXES: [(&str, Scope); 5] = [
    ("session_", Scope::Sessions),
    ("first_event_", Scope::FirstEvents),
    ("gap_", Scope::Gaps),
    ("first_token_", Scope::FirstTokens),
    ("token_gap_", Scope::TokenGaps),
];

impl Scope {
    /// Checks that a run with these entries has such a part. A run without sessions has no entries.
    pub(super) fn check(&self, rule: &str, entries: &[EntryName], has_streams: bool) -> Result<(), MisplacedRuleError> {
        match self {
            Self::Run => Ok(()),
            Self::FirstEvents | Self::Gaps | Self::FirstTokens | Self::TokenGaps if has_streams => Ok(()),
            Self::FirstEvents | Self::Gaps | Self::FirstTokens | Self::TokenGaps => {
                Err(MisplacedRuleError::NoStreams(rule.to_owned()))
            }
            _ if entries.is_empty() => Err(MisplacedRuleError::NoSessions(rule.to_owned())),
            Self::Entry(name) if !entries.iter().any(|entry| is_called(name, &entry.name, &entry.file, entry.line)) => {
                let (rule, name) = (rule.to_owned(), name.clone());
                Err(MisplacedRuleError::UnknownEntry { rule, name, names: listed(entries) })
            }
            Self::Entry(_) | Self::Sessions => Ok(()),
        }
    }
}

/// Returns whether an entry of this name at this line of a file is meant by `wanted`: its name or `FILE:LINE`, where folders
/// before the file's name may be left out.
pub(super) fn is_called(wanted: &str, name: &str, file: &str, line: usize) -> bool {
    let is_position = || {
        let (wanted_file, wanted_line) = wanted.rsplit_once(':')?;
        let front = file.strip_suffix(wanted_file)?;
        Some(wanted_line.parse() == Ok(line) && (front.is_empty() || front.ends_with('/')))
    };
    wanted == name || is_position().unwrap_or(false)
}

/// Returns the distinct names of entries in quotes, with commas between them.
fn listed(entries: &[EntryName]) -> String {
    let mut names: Vec<&str> = Vec::new();
    for entry in entries {
        if !names.contains(&entry.name.as_str()) {
            names.push(&entry.name);
        }
    }
    let mut listed: Vec<_> = names.iter().take(MOST_NAMES).map(|name| format!("'{name}'")).collect();
    if names.len() > MOST_NAMES {
        listed.push(format!("and {} more", names.len() - MOST_NAMES));
    }
    listed.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_has_a_name_and_a_position() {
        for (wanted, is) in [
            ("login", true),
            ("shop/a.hurl:7", true),
            ("a.hurl:7", true),
            ("a.hurl:8", false),
            (".hurl:7", false),
            ("hop/a.hurl:7", false),
            ("log", false),
            (":7", false),
            ("7", false),
            ("a.hurl:x", false),
        ] {
            assert_eq!(is_called(wanted, "login", "shop/a.hurl", 7), is, "{wanted}");
        }
    }

    #[test]
    fn names_are_listed_once_and_not_without_end() {
        let entries: Vec<_> =
            (0..40).map(|n| EntryName { name: format!("GET /{}", n / 2), ..EntryName::default() }).collect();
        let listed = listed(&entries);
        assert!(listed.starts_with("'GET /0', 'GET /1', ") && listed.ends_with("'GET /11', and 8 more"), "{listed}");
    }
}
