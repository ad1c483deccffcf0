//! Scripts: statements whose meaning is certain become captures, asserts and definitions. All other lines stand in a comment.
//!
//! Bruno's statements are Postman's under other names, so that they are rewritten as these and read as such.

use super::reader::Reader;
use crate::draft::{DraftEntry, LeftOut};
use crate::parts::{capture as captured, option, response};
use crate::pattern::pattern;
use crate::script::blocks::{Blocks, Step, braces};
use crate::script::expectation::{self, Expression, Literal};
use crate::secret::Secrets;
use regex::Regex;
use std::sync::LazyLock;
use torr_session::hurl::ast::{OptionName, OptionValue, Query, Value};

/// The names of Bruno's statements, and those of Postman's.
static NAMES: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
    [
        (r"\bres\.getStatus\(\)|\bres\.status\b", "pm.response.code"),
        (r"\bres\.getResponseTime\(\)|\bres\.responseTime\b", "pm.response.responseTime"),
        (r"\bres\.getHeader\(", "pm.response.headers.get("),
        (r#"\bres\.(?:headers|getHeaders\(\))\[\s*["']([^"']+)["']\s*\]"#, "pm.response.headers.get('$1')"),
        (r"\bres\.headers\.([A-Za-z_]\w*)", "pm.response.headers.get('$1')"),
        (r#"\bres\(\s*["']([\w.\[\]]+)["']\s*\)"#, "pm.response.json().$1"),
        (r"\bres\.getBody\(\)|\bres\.body\b", "pm.response.json()"),
    ]
    .map(|(text, name)| (pattern(text), name))
    .into()
});
/// The beginning of a test, with what follows its brace or arrow.
static TEST: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r#"^test\(\s*(?:"[^"]*"|'[^']*'|`[^`]*`)\s*,\s*(?:async\s+)?(?:function\s*\(\s*\)|\(\s*\)\s*=>)\s*(.*)$"#)
});
/// A value under a name.
static BINDING: LazyLock<Regex> = LazyLock::new(|| pattern(r"^(?:var|let|const)\s+([A-Za-z_$][\w$]*)\s*=\s*(.+?);?$"));
/// A name where a value begins.
static NAME: LazyLock<Regex> = LazyLock::new(|| pattern(r"(^|[(\s])([A-Za-z_$][\w$]*)"));
/// The beginning of a block with a condition.
static CONDITION: LazyLock<Regex> = LazyLock::new(|| pattern(r"^if\s*\((.+)\)\s*\{$"));
static COMPARISON: LazyLock<Regex> = LazyLock::new(|| pattern(r"^(.+?)\s*(===?|!==?|<=|>=|<|>)\s*(.+)$"));
/// A line that only prints.
static LOG: LazyLock<Regex> = LazyLock::new(|| pattern(r"^console\.\w+\(.*\);?$"));
/// Several members of a value under their names.
static MEMBERS: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"^(?:var|let|const)\s*\{\s*([\w$]+(?:\s*,\s*[\w$]+)*)\s*,?\s*\}\s*=\s*(.+?);?$"));
/// A pause, in milliseconds.
static SLEEP: LazyLock<Regex> = LazyLock::new(|| pattern(r"^(?:await\s+)?bru\.sleep\(\s*(\d{1,7})\s*\);?$"));
static SET: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r#"^bru\.set(Env|Global|Collection|)(?:Env)?Var\(\s*["'`]([^"'`]+)["'`]\s*,\s*(.+?)\s*\);?$"#)
});
/// An expectation of the whole content as text.
static WHOLE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^expect\(\s*res\.(?:body|getBody\(\))\s*\)\.((?:(?:to|be|not|have|deep)\.)+(?:equals?|eql|eq|include|contain|string|match)\()",
    )
});

/// What was understood of a script so far.
#[derive(Default)]
struct Script {
    /// Names of values of the response, and the values.
    bindings: Vec<(String, String)>,
    blocks: Blocks,
}

/// Reads the script before a request into its entry.
pub(super) fn before(reader: &mut Reader, text: &str, made: &mut DraftEntry) {
    read(reader, text, made, "part of a pre-request script", true);
}

/// Reads the script behind a response, or its tests, into the entry.
pub(super) fn after(reader: &mut Reader, text: &str, made: &mut DraftEntry) {
    read(reader, text, made, "part of a test script", false);
}

fn read(reader: &mut Reader, text: &str, made: &mut DraftEntry, kind: &str, is_before: bool) {
    let mut script = Script::default();
    let lines: Vec<&str> = text.lines().collect();
    let mut at = 0;
    while at < lines.len() {
        let end = if is_before { None } else { script.block_of_captures(&lines[at..]) };
        let Some(end) = end.map(|length| at + length) else {
            script.line(lines[at], is_before, reader, made);
            at += 1;
            continue;
        };
        lines[at + 1..end].iter().for_each(|line| script.line(line, is_before, reader, made));
        let reason = "its values are captured in any case: a session ends where the response has none";
        made.left_out.push(LeftOut::new("condition of a script", lines[at].trim(), reason));
        // What follows an else is not certain.
        if lines[end].trim() != "}" {
            script.forget(lines[end]);
            script.blocks.keep_open(lines[end]);
        }
        at = end + 1;
    }
    script.blocks.finish(kind, made);
}

impl Script {
    fn line(&mut self, line: &str, is_before: bool, reader: &mut Reader, made: &mut DraftEntry) {
        let statement = line.trim();
        match self.blocks.next(statement, &TEST) {
            Step::Pass => return,
            Step::Understand(inner) if self.statement(inner, is_before, reader, made) => return,
            Step::Understand(_) => self.blocks.not_understood(statement),
            Step::Keep => {}
        }
        self.forget(statement);
        self.blocks.keep(line);
    }

    /// Returns the number of lines of a block that captures values if the response is what the requests after it need, up to its
    /// brace; `None` for any other line.
    fn block_of_captures(&self, lines: &[&str]) -> Option<usize> {
        if !self.blocks.is_certain() {
            return None;
        }
        let found = CONDITION.captures(lines.first()?.trim())?;
        if !found[1].split("&&").all(|term| self.is_success(term.trim())) {
            return None;
        }
        // Names within the block.
        let mut inner = Self { bindings: self.bindings.clone(), ..Self::default() };
        let mut captures = 0;
        for (at, line) in lines.iter().enumerate().skip(1) {
            let statement = line.trim();
            if statement == "}" || statement.starts_with("} else") {
                return (captures > 0 && (statement == "}" || braces(statement) == 0)).then_some(at);
            } else if let Some(found) = SET.captures(statement) {
                let value = without_options(&found[3]);
                captures += 1;
                let is_capture = Literal::read(value).is_none() && expression(&inner.resolved(value)).is_some();
                if matches!(&found[1], "Global" | "Collection") || !is_capture {
                    return None;
                }
            } else if !inner.bind(statement)
                && !statement.is_empty()
                && !statement.starts_with("//")
                && !LOG.is_match(statement)
            {
                return None;
            }
        }
        None
    }

    /// Notes the names that a statement gives to values of the response; `false` for any other statement.
    fn bind(&mut self, statement: &str) -> bool {
        let named: Vec<(String, String)> = if let Some(found) = BINDING.captures(statement) {
            vec![(found[1].to_owned(), self.resolved(&found[2]))]
        } else if let Some(found) = MEMBERS.captures(statement) {
            let value = self.resolved(&found[2]);
            found[1].split(',').map(|name| (name.trim().to_owned(), format!("{value}.{}", name.trim()))).collect()
        } else {
            return false;
        };
        self.bindings.retain(|(known, _)| named.iter().all(|(name, _)| name != known));
        let is_known = named.iter().all(|(_, value)| expression(value).is_some());
        if is_known {
            self.bindings.extend(named);
        }
        is_known
    }

    /// Whether a condition is that a response is a success, or has a value.
    fn is_success(&self, term: &str) -> bool {
        let term = self.resolved(term);
        let Some(found) = COMPARISON.captures(&term) else { return expression(&term).is_some() };
        let (Some(on), value) = (expression(&found[1]), found[3].trim()) else { return false };
        match (&on.query, &found[2]) {
            (Query::Status, "==" | "===" | ">=") => value.starts_with('2') && value.len() == 3,
            (Query::Status, "<") => matches!(value, "300" | "400"),
            (_, "!=" | "!==") => matches!(value, "null" | "undefined" | "\"\"" | "''"),
            _ => false,
        }
    }

    /// Forgets the names that a line gives other values.
    fn forget(&mut self, statement: &str) {
        self.bindings.retain(|(name, _)| !statement.contains(&format!("{name} =")));
    }

    /// Carries a statement over; `false` for one whose meaning is not certain.
    fn statement(&mut self, statement: &str, is_before: bool, reader: &mut Reader, made: &mut DraftEntry) -> bool {
        if let Some(found) = SET.captures(statement) {
            let is_of_environment = match &found[1] {
                "" => false,
                "Env" => true,
                // Variables of the collection and globals are hidden by others of their name.
                _ => return false,
            };
            let (name, value) = (&found[2], &found[3]);
            let value = without_options(value);
            if let Some(literal) = Literal::read(value) {
                define(reader, name, &literal, is_of_environment, is_before, made)
            } else {
                !is_before && capture(reader, name, &self.resolved(value), is_of_environment, made)
            }
        } else if let Some(found) = SLEEP.captures(statement).filter(|_| is_before) {
            let pause = OptionValue::Milliseconds(found[1].parse().unwrap_or(0));
            made.entry.request.options.push(option(OptionName::Delay, pause));
            true
        } else if is_before {
            false
        } else if BINDING.is_match(statement) || MEMBERS.is_match(statement) {
            self.bind(statement)
        } else {
            self.expectation(&self.resolved(statement), made)
        }
    }

    /// Returns text in which names of values of the response stand as these.
    fn resolved(&self, text: &str) -> String {
        let replaced = |found: &regex::Captures<'_>| {
            let value = self.bindings.iter().find(|(name, _)| *name == found[2]).map(|(_, value)| value.as_str());
            format!("{}{}", &found[1], value.unwrap_or(&found[2]))
        };
        NAME.replace_all(text, replaced).into_owned()
    }

    fn expectation(&self, statement: &str, made: &mut DraftEntry) -> bool {
        let statement = statement.trim_end_matches(';');
        let whole = WHOLE.replace(statement, "pm.expect(pm.response.text()).$1");
        let statement = rewritten(&whole);
        let statement = match statement.strip_prefix("expect(") {
            Some(rest) => format!("pm.expect({rest}"),
            None => statement,
        };
        expectation::add(&statement, &[], made)
    }
}

/// Returns the value that is set, without an object of options such as `{ persist: true }`, which changes nothing of the run.
fn without_options(value: &str) -> &str {
    value.split_once(", {").map_or(value, |(value, _)| value).trim()
}

/// Returns text in Postman's words.
fn rewritten(text: &str) -> String {
    NAMES.iter().fold(text.to_owned(), |text, (pattern, name)| pattern.replace_all(&text, *name).into_owned())
}

/// Reads a value of a response, such as `res.body.id`.
pub(super) fn expression(text: &str) -> Option<Expression> {
    expectation::expression(&rewritten(text.trim()), &[])
}

/// Adds a capture of a variable; `false` for an expression whose meaning is not certain.
pub(super) fn capture(reader: &mut Reader, name: &str, text: &str, of_env: bool, made: &mut DraftEntry) -> bool {
    match expression(text) {
        Some(expression) => add_capture(reader, name, expression, of_env, made),
        None => false,
    }
}

fn add_capture(reader: &mut Reader, name: &str, from: Expression, of_env: bool, made: &mut DraftEntry) -> bool {
    let variable = reader.variables.assign(name);
    reader.scope.assign(name, of_env);
    // The whole content is text, whatever its type.
    let mut capture = captured(&variable, if from.is_whole() { Query::Body } else { from.query });
    capture.filters = from.filters;
    response(&mut made.entry).captures.push(capture);
    let at = reader.draft.entries.len() + 1;
    // Scripts of folders capture with each request.
    let note = format!("captured: '{variable}' from the response of request ");
    if !reader.draft.notes.iter().any(|known| known.starts_with(&note)) {
        reader.draft.notes.push(format!("{note}{at}"));
    }
    true
}

/// Defines a variable: a literal's value is certain. One that is set behind a response holds from the next request on.
fn define(
    reader: &mut Reader,
    name: &str,
    literal: &Literal,
    of_env: bool,
    is_before: bool,
    made: &mut DraftEntry,
) -> bool {
    let variable = reader.variables.assign(name);
    reader.scope.assign(name, of_env);
    let value = match literal {
        Literal::Text(text) if Secrets::is_credential(name) && !text.is_empty() => {
            Value::Text(reader.secrets.whole(name, "script", text))
        }
        literal => literal.value(),
    };
    let of = OptionValue::Definition { name: variable, value };
    let definition = option(OptionName::Variable, of);
    if is_before { &mut made.entry.request.options } else { &mut reader.pending }.push(definition);
    true
}
