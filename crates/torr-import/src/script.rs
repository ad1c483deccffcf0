//! Scripts: statements whose meaning is certain become captures, asserts and definitions. Everything else stands in a comment.
//!
//! A line is certain only if it is one whole statement that always runs: within `pm.test`, but not within any other block. The
//! statements are Postman's; importers of other programs' scripts write theirs as Postman's first.

pub(crate) mod expectation;

use crate::draft::{DraftEntry, LeftOut};
use crate::parts::{capture, option, response};
use crate::reader::Reader;
use expectation::{Expression, Literal};
use regex::Regex;
use std::sync::LazyLock;
use torr_session::hurl::ast::{OptionName, OptionValue};

/// When a script runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Before the request.
    Before,
    /// With the response.
    After,
}

/// A line of a script.
#[derive(Debug, Clone)]
pub(crate) struct Line {
    /// The line as the file has it.
    pub(crate) text: String,
    /// The line's statement in Postman's words.
    pub(crate) statement: String,
}

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("the pattern is constant and tested")
}

/// The beginning of a test, with what follows its brace or arrow.
static TEST: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r#"^pm\.test\(\s*(?:"[^"]*"|'[^']*'|`[^`]*`)\s*,\s*(?:function\s*\(\s*\)|\(\s*\)\s*=>)\s*(.*)$"#)
});
/// The parsed content under a name.
static BINDING: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^(?:var|let|const)?\s*([A-Za-z_$][\w$]*)\s*=\s*(?:pm\.response\.json\(\)|JSON\.parse\(\s*(?:responseBody|pm\.response\.text\(\))\s*\));?$",
    )
});
static SET: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r#"^(?:pm\.(?:environment|collectionVariables|globals|variables)\.set|postman\.set(?:Environment|Global)Variable)\(\s*["'`]([^"'`]+)["'`]\s*,\s*(.+?)\s*\);?$"#,
    )
});

/// What was understood of a script so far.
struct Script {
    phase: Phase,
    /// Names of the parsed content.
    bindings: Vec<String>,
    /// Tests that are open.
    tests: usize,
    /// Braces that are open within what was not understood.
    opaque: i64,
    /// Whether the script may have ended above.
    is_over: bool,
    is_comment: bool,
    kept: Vec<String>,
}

/// Reads a script into an entry. `kind` names the script where a part of it is left out.
pub(crate) fn read(reader: &mut Reader, phase: Phase, kind: &str, lines: &[Line], made: &mut DraftEntry) {
    let mut script = Script {
        phase,
        bindings: Vec::new(),
        tests: 0,
        opaque: 0,
        is_over: false,
        is_comment: false,
        kept: Vec::new(),
    };
    for line in lines {
        script.line(line, reader, made);
    }
    if script.kept.iter().any(|line| line.contains("setNextRequest")) {
        let reason = "the entries of a hurl file run in order";
        made.left_out.push(LeftOut::new("setNextRequest", "", reason));
    }
    if !script.kept.is_empty() {
        made.left_out.push(LeftOut::new(kind, "", "no exact counterpart: its lines are kept as a comment"));
        made.comments.append(&mut script.kept);
    }
}

impl Script {
    fn line(&mut self, line: &Line, reader: &mut Reader, made: &mut DraftEntry) {
        let (line, statement) = (line.text.as_str(), line.statement.as_str());
        if self.is_comment || statement.starts_with("/*") {
            self.is_comment = !statement.contains("*/");
            return;
        }
        if statement.is_empty() || statement.starts_with("//") {
            return;
        }
        if self.opaque > 0 || self.is_over {
            self.opaque += braces(statement);
            self.keep(line, statement);
            return;
        }
        if self.tests > 0 && matches!(statement, "});" | "})") {
            self.tests -= 1;
            return;
        }
        if let Some(found) = TEST.captures(statement) {
            let behind = found[1].trim();
            if behind == "{" {
                self.tests += 1;
                return;
            }
            let inner = behind.trim_end_matches(';').strip_suffix(')').map(str::trim).unwrap_or_default();
            let inner = inner.strip_prefix('{').and_then(|inner| inner.strip_suffix('}')).unwrap_or(inner).trim();
            if !inner.is_empty() && self.statement(inner, reader, made) {
                return;
            }
        } else if self.statement(statement, reader, made) {
            return;
        }
        self.opaque = braces(statement).max(0);
        self.is_over = statement.starts_with("return") || statement.starts_with("throw");
        self.keep(line, statement);
    }

    fn keep(&mut self, line: &str, statement: &str) {
        self.bindings.retain(|name| !statement.contains(&format!("{name} =")));
        self.kept.push(line.to_owned());
    }

    /// Carries a statement over; `false` for one whose meaning is not certain.
    fn statement(&mut self, statement: &str, reader: &mut Reader, made: &mut DraftEntry) -> bool {
        if let Some(found) = SET.captures(statement) {
            return match self.phase {
                Phase::Before => define(&found[1], &found[2], reader, made),
                Phase::After => self.capture(&found[1], &found[2], reader, made),
            };
        }
        if self.phase == Phase::Before {
            return false;
        }
        if let Some(found) = BINDING.captures(statement) {
            self.bindings.push(found[1].to_owned());
            return true;
        }
        match expectation::read(statement.trim_end_matches(';'), &self.bindings) {
            Some(expectation::Expectation::Status(code)) => {
                let expected = response(&mut made.entry);
                if expected.status.is_none() {
                    expected.status = Some(code);
                }
                expected.status == Some(code)
            }
            Some(expectation::Expectation::Asserts(asserts)) => {
                response(&mut made.entry).asserts.extend(asserts);
                true
            }
            None => false,
        }
    }

    fn capture(&self, name: &str, expression: &str, reader: &mut Reader, made: &mut DraftEntry) -> bool {
        let Some(Expression { query, filters }) = expectation::expression(expression, &self.bindings) else {
            return false;
        };
        let variable = reader.variables.assign(name);
        let mut captured = capture(&variable, query);
        captured.filters = filters;
        response(&mut made.entry).captures.push(captured);
        reader
            .draft
            .notes
            .push(format!("captured: '{variable}' from a test script of request {}", reader.draft.entries.len() + 1));
        true
    }
}

/// Defines a variable before a request: a literal's value is certain.
fn define(name: &str, value: &str, reader: &mut Reader, made: &mut DraftEntry) -> bool {
    let Some(literal) = Literal::read(value) else { return false };
    let variable = reader.variables.assign(name);
    let of = OptionValue::Definition { name: variable, value: literal.value() };
    made.entry.request.options.push(option(OptionName::Variable, of));
    true
}

/// Returns how many more braces a line opens than it closes, those of strings left out.
fn braces(line: &str) -> i64 {
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
