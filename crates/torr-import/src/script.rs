//! Scripts: statements whose meaning is certain become captures, asserts and definitions. Everything else stands in a comment.
//!
//! A line is certain only if it is one whole statement that always runs: within `pm.test`, but not within any other block. The
//! statements are Postman's; importers of other programs' scripts write theirs as Postman's first.

pub(crate) mod blocks;
pub(crate) mod expectation;

use crate::draft::DraftEntry;
use crate::parts::{capture, option, response};
use crate::pattern::pattern;
use crate::reader::Reader;
use crate::secret::Secrets;
use blocks::{Blocks, Step};
use expectation::{Expression, Literal};
use regex::Regex;
use std::sync::LazyLock;
use torr_session::hurl::ast::{OptionName, OptionValue, Value};

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
    blocks: Blocks,
}

/// Reads a script into an entry. `kind` names the script where a part of it is left out.
pub(crate) fn read(reader: &mut Reader, phase: Phase, kind: &str, lines: &[Line], made: &mut DraftEntry) {
    let mut script = Script { phase, bindings: Vec::new(), blocks: Blocks::default() };
    for line in lines {
        script.line(line, reader, made);
    }
    script.blocks.finish(kind, made);
}

impl Script {
    fn line(&mut self, line: &Line, reader: &mut Reader, made: &mut DraftEntry) {
        match self.blocks.next(&line.statement, &TEST) {
            Step::Pass => return,
            Step::Understand(statement) if self.statement(statement, reader, made) => return,
            Step::Understand(_) => self.blocks.not_understood(&line.statement),
            Step::Keep => {}
        }
        self.bindings.retain(|name| !line.statement.contains(&format!("{name} =")));
        self.blocks.keep(&line.text);
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
        expectation::add(statement.trim_end_matches(';'), &self.bindings, made)
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
    let value = match &literal {
        Literal::Text(text) if Secrets::is_credential(name) && !text.is_empty() => {
            Value::Text(reader.secrets.whole(name, "script", text))
        }
        literal => literal.value(),
    };
    let of = OptionValue::Definition { name: variable, value };
    made.entry.request.options.push(option(OptionName::Variable, of));
    true
}
