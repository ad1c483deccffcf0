//! Scripts of the clients, whose statements are Postman's under other names.

use super::block::Language;
use crate::pattern::pattern;
use crate::script::Line;
use regex::{Captures, Regex};
use std::sync::LazyLock;

/// A condition, with or without a message.
static ASSERT: LazyLock<Regex> =
    LazyLock::new(|| pattern(r#"client\.assert\((.+?)(?:,\s*(?:"[^"]*"|'[^']*'|`[^`]*`))?\);?"#));
/// A variable that a script of httpyac hands on.
static EXPORT: LazyLock<Regex> = LazyLock::new(|| pattern(r"^exports\.([A-Za-z_]\w*)\s*=\s*(.+?);?$"));
static STATUS: LazyLock<Regex> = LazyLock::new(|| pattern(r"^test\.status\((\d+)\);?$"));

/// What JetBrains' client calls something, and what Postman calls it.
const JETBRAINS: &[(&str, &str)] = &[
    ("client.global.set(", "pm.environment.set("),
    ("request.variables.set(", "pm.variables.set("),
    ("client.test(", "pm.test("),
    ("response.body", "pm.response.json()"),
    ("response.status", "pm.response.code"),
    ("response.headers.valueOf(", "pm.response.headers.get("),
];

/// What httpyac calls something, and what Postman calls it.
const HTTPYAC: &[(&str, &str)] = &[
    ("response.parsedBody", "pm.response.json()"),
    ("response.statusCode", "pm.response.code"),
    ("test(", "pm.test("),
];

/// Returns the lines of a script with their statements in Postman's words.
pub(super) fn lines(text: &str, language: Language) -> Vec<Line> {
    let statement = match language {
        Language::Jetbrains => of_jetbrains,
        Language::Httpyac => of_httpyac,
    };
    text.lines().map(|line| Line { text: line.to_owned(), statement: statement(line.trim()) }).collect()
}

fn renamed(statement: &str, names: &[(&str, &str)]) -> String {
    names.iter().fold(statement.to_owned(), |text, (theirs, postmans)| text.replace(theirs, postmans))
}

fn of_jetbrains(statement: &str) -> String {
    let condition = |found: &Captures<'_>| format!("tests[\"condition\"] = {};", &found[1]);
    ASSERT.replace(&renamed(statement, JETBRAINS), condition).into_owned()
}

fn of_httpyac(statement: &str) -> String {
    if let Some(found) = STATUS.captures(statement) {
        return format!("tests[\"condition\"] = pm.response.code === {};", &found[1]);
    }
    let renamed = renamed(statement, HTTPYAC);
    match EXPORT.captures(&renamed) {
        Some(found) => format!("pm.variables.set(\"{}\", {});", &found[1], &found[2]),
        None => renamed,
    }
}
