//! The blocks of a script, read line by line: what always runs, and what is kept as a comment.

use crate::draft::{DraftEntry, LeftOut};
use regex::Regex;

/// What was understood of a script's blocks so far.
#[derive(Debug, Default)]
pub(crate) struct Blocks {
    /// Tests that are open.
    tests: usize,
    /// Braces that are open within what was not understood.
    opaque: i64,
    /// Whether the script may have ended above.
    is_over: bool,
    is_comment: bool,
    kept: Vec<String>,
}

/// What is to be done with a line.
pub(crate) enum Step<'s> {
    /// Nothing: it is a comment, or begins or ends a test.
    Pass,
    /// Understand this statement, which always runs.
    Understand(&'s str),
    /// Keep it: it is not certain what it means, or that it runs.
    Keep,
}

impl Blocks {
    /// Returns what is to be done with the statement of a line. `test` matches the beginning of a test and captures what follows its
    /// brace or arrow.
    pub(crate) fn next<'s>(&mut self, statement: &'s str, test: &Regex) -> Step<'s> {
        if self.is_comment || statement.starts_with("/*") {
            self.is_comment = !statement.contains("*/");
            return Step::Pass;
        }
        if statement.is_empty() || statement.starts_with("//") {
            return Step::Pass;
        }
        if self.opaque > 0 || self.is_over {
            self.opaque += braces(statement);
            return Step::Keep;
        }
        if self.tests > 0 && matches!(statement, "});" | "})") {
            self.tests -= 1;
            return Step::Pass;
        }
        let Some(behind) = test.captures(statement).and_then(|found| found.get(1)) else {
            return Step::Understand(statement);
        };
        let behind = behind.as_str().trim();
        if behind == "{" {
            self.tests += 1;
            return Step::Pass;
        }
        let inner = behind.trim_end_matches(';').strip_suffix(')').map(str::trim).unwrap_or_default();
        let inner = inner.strip_prefix('{').and_then(|inner| inner.strip_suffix('}')).unwrap_or(inner).trim();
        if inner.is_empty() {
            self.not_understood(statement);
            return Step::Keep;
        }
        Step::Understand(inner)
    }

    /// Notes that the statement of a line was not understood: neither is the block that it opens, nor what follows an end of the script.
    pub(crate) fn not_understood(&mut self, statement: &str) {
        self.opaque = braces(statement).max(0);
        self.is_over = statement.starts_with("return") || statement.starts_with("throw");
    }

    /// Keeps a line.
    pub(crate) fn keep(&mut self, line: &str) {
        self.kept.push(line.to_owned());
    }

    /// Keeps a line that opens a block.
    pub(crate) fn keep_open(&mut self, line: &str) {
        self.opaque = 1;
        self.keep(line);
    }

    /// Whether the next line always runs.
    pub(crate) fn is_certain(&self) -> bool {
        self.opaque <= 0 && !self.is_over && !self.is_comment
    }

    /// Adds the lines that were kept to an entry. `kind` names the script.
    pub(crate) fn finish(self, kind: &str, made: &mut DraftEntry) {
        if self.kept.iter().any(|line| line.contains("setNextRequest")) {
            let reason = "the entries of a hurl file run in order";
            made.left_out.push(LeftOut::new("setNextRequest", "", reason));
        }
        if !self.kept.is_empty() {
            made.left_out.push(LeftOut::new(kind, "", "no exact counterpart: its lines are kept as a comment"));
            made.comments.extend(self.kept);
        }
    }
}

/// Returns how many more braces a line opens than it closes, those of strings left out.
pub(crate) fn braces(line: &str) -> i64 {
    let mut quote = None;
    let mut open = 0;
    for next in line.chars() {
        match (quote, next) {
            (Some(end), next) if end == next => quote = None,
            (None, '"' | '\'' | '`') => quote = Some(next),
            (None, '{') => open += 1,
            (None, '}') => open -= 1,
            _ => {}
        }
    }
    open
}
