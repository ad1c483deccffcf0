//! What an import has made so far.

use std::collections::BTreeMap;
use std::fmt::Write;
use thiserror::Error;
use torr_session::hurl::ast::Entry;
use torr_session::hurl::write_entry;

/// Why nothing could be imported, in words that say what to do.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct ImportError(pub String);

/// A hurl file in the making.
#[derive(Debug, Clone, Default)]
pub struct Draft {
    /// The entries, in order.
    pub entries: Vec<DraftEntry>,
    /// Values that were taken out of the file, by the variables that stand for them.
    pub secrets: Vec<Secret>,
    /// What was left out as a whole: each a phrase with the reason, once for each time.
    pub left_out: Vec<(String, String)>,
    /// What else people should know, such as the evidence for a capture.
    pub notes: Vec<String>,
}

/// An entry, and what the source said about it that an entry cannot say.
#[derive(Debug, Clone)]
pub struct DraftEntry {
    /// The entry.
    pub entry: Entry,
    /// What was left out: each a phrase such as `--ntlm`, with the reason.
    pub left_out: Vec<(String, String)>,
}

/// A value that must not stand in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Secret {
    /// The variable that stands for the value.
    pub variable: String,
    /// Where the value stood, such as `header Authorization`.
    pub place: String,
    /// The value, for a run at once; shown nowhere.
    pub value: String,
}

impl Draft {
    /// Returns the hurl file.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for (at, draft) in self.entries.iter().enumerate() {
            if at > 0 {
                text.push('\n');
            }
            for (what, reason) in &draft.left_out {
                let _ = writeln!(text, "# left out: {what} ({reason})");
            }
            text.push_str(&write_entry(&draft.entry));
        }
        text
    }

    /// Returns what was made and what was left out, with counts, for people.
    pub fn summary(&self) -> String {
        let plural = |count: usize, one: &str, more: &str| format!("{count} {}", if count == 1 { one } else { more });
        let mut lines = vec![plural(self.entries.len(), "request", "requests")];
        for Secret { variable, place, .. } in &self.secrets {
            lines.push(format!("secret: {place} is the variable '{variable}', read from HURL_VARIABLE_{variable}"));
        }
        lines.extend(self.notes.iter().cloned());
        let mut left_out = BTreeMap::new();
        for (what, reason) in self.left_out.iter().chain(self.entries.iter().flat_map(|draft| &draft.left_out)) {
            *left_out.entry((what, reason)).or_insert(0) += 1;
        }
        for ((what, reason), count) in left_out {
            lines.push(format!("left out: {what}, {} ({reason})", plural(count, "time", "times")));
        }
        lines.join("\n")
    }
}
