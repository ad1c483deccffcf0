//! What an import has made so far.

use crate::line::one_line;
use std::collections::BTreeMap;
use std::fmt::Write;
use thiserror::Error;
use torr_session::hurl::ast::Entry;
use torr_session::hurl::write_entry;

/// The longest line of a comment, in characters.
const LONGEST_COMMENT: usize = 400;

/// Why nothing could be imported, in words that say what to do.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{}", one_line(.0))]
pub struct ImportError(pub String);

/// A hurl file in the making.
#[derive(Debug, Clone, Default)]
pub struct Draft {
    /// The entries, in order.
    pub entries: Vec<DraftEntry>,
    /// Values that were taken out of the file, by the variables that stand for them.
    pub secrets: Vec<Secret>,
    /// What was left out as a whole, once for each time: only the summary has it.
    pub left_out: Vec<LeftOut>,
    /// What was left out behind the last entry.
    pub left_out_behind: Vec<LeftOut>,
    /// What else people should know, such as the evidence for a capture.
    pub notes: Vec<String>,
}

/// An entry, and what the source said about it that an entry cannot say.
#[derive(Debug, Clone)]
pub struct DraftEntry {
    /// The entry.
    pub entry: Entry,
    /// What was left out, said in comments above the entry.
    pub left_out: Vec<LeftOut>,
    /// Text of the source that stands in comments above the entry, such as the lines of a script.
    pub comments: Vec<String>,
}

/// Something that an import could not carry over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// What it is, such as `--ntlm` or `timer`: the summary counts what has one kind and one reason.
    pub kind: String,
    /// Which one it is, for the comment; empty where the kind says all.
    pub which: String,
    /// Why it was left out.
    pub reason: String,
}

impl LeftOut {
    /// Returns one thing of a kind.
    pub fn new(kind: impl Into<String>, which: impl Into<String>, reason: impl Into<String>) -> Self {
        Self { kind: kind.into(), which: which.into(), reason: reason.into() }
    }
}

impl From<(String, String)> for LeftOut {
    fn from((kind, reason): (String, String)) -> Self {
        Self { kind, which: String::new(), reason }
    }
}

impl DraftEntry {
    /// Returns an entry, with the kinds of what was left out and the reasons.
    pub fn new(entry: Entry, left_out: impl IntoIterator<Item = impl Into<LeftOut>>) -> Self {
        Self { entry, left_out: left_out.into_iter().map(Into::into).collect(), comments: Vec::new() }
    }
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
            draft.left_out.iter().for_each(|left_out| comment(&mut text, left_out));
            for line in draft.comments.iter().flat_map(|comment| comment.lines()) {
                let _ = writeln!(text, "{}", printable(&format!("# | {line}")).trim_end());
            }
            text.push_str(&write_entry(&draft.entry));
        }
        if !self.left_out_behind.is_empty() {
            text.push('\n');
        }
        self.left_out_behind.iter().for_each(|left_out| comment(&mut text, left_out));
        text
    }

    /// Returns what was made and what was left out, with counts, for people.
    pub fn summary(&self) -> String {
        let plural = |count: usize, one: &str, more: &str| format!("{count} {}", if count == 1 { one } else { more });
        let mut lines = vec![plural(self.entries.len(), "request", "requests")];
        for Secret { variable, place, .. } in &self.secrets {
            lines.push(format!("secret: {place} is the variable '{variable}', read from HURL_VARIABLE_{variable}"));
        }
        lines.extend(self.notes.iter().map(|note| printable(note)));
        let mut left_out = BTreeMap::new();
        let of_entries = self.entries.iter().flat_map(|draft| &draft.left_out);
        for LeftOut { kind, reason, .. } in self.left_out.iter().chain(of_entries).chain(&self.left_out_behind) {
            *left_out.entry((kind, reason)).or_insert(0) += 1;
        }
        for ((kind, reason), count) in left_out {
            let line = format!("left out: {kind}, {} ({reason})", plural(count, "time", "times"));
            lines.push(printable(&line));
        }
        lines.join("\n")
    }
}

/// Adds a comment that says what was left out.
fn comment(text: &mut String, LeftOut { kind, which, reason }: &LeftOut) {
    let space = if which.is_empty() { "" } else { " " };
    let _ = writeln!(text, "{}", printable(&format!("# left out: {kind}{space}{which} ({reason})")));
}

/// Returns text of a source as one line that harms no terminal, cut to a bounded length.
fn printable(text: &str) -> String {
    let line: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    match line.char_indices().nth(LONGEST_COMMENT) {
        Some((end, _)) => format!("{} ...", &line[..end]),
        None => line,
    }
}
