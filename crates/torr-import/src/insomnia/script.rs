//! Scripts: Insomnia's statements are Postman's under other names, so that they are rewritten as these and read as such.

use super::reader::Reader;
use super::scope::Place;
use crate::draft::DraftEntry;
use crate::pattern::pattern;
use crate::script::{self, Line, Phase};
use regex::Regex;
use std::sync::LazyLock;

/// Statements of Insomnia, and Postman's for them.
static NAMES: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
    [
        (r"\binsomnia\.", "pm."),
        (r"\bpm\.baseEnvironment\.", "pm.collectionVariables."),
        (r"\bpm\.baseGlobals\.", "pm.globals."),
        (r"^(?:await\s+)?pm\.test\((.*?,\s*)async\s+", "pm.test($1"),
        (r"^pm\.response\.to\.have\.jsonBody\(", "pm.expect(pm.response.json()).to.have.property("),
        // Insomnia looks at the content, not at the field.
        (r"^pm\.response\.to\.be\.json\b;?$", "pm.expect(pm.response.json()).to.be.an('object')"),
    ]
    .map(|(text, name)| (pattern(text), name))
    .into()
});
static SET: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r#"\bpm\.(environment|collectionVariables|globals|variables)\.set\(\s*["'`]([^"'`]+)["'`]"#)
});
/// A call that skips a test.
static SKIP: LazyLock<Regex> = LazyLock::new(|| pattern(r"^pm\.test\.skip\("));

/// Reads a script into an entry.
pub(super) fn read(reader: &mut Reader<'_>, phase: Phase, text: &str, made: &mut DraftEntry) {
    let kind = if phase == Phase::Before { "part of a pre-request script" } else { "part of an after-response script" };
    let lines: Vec<Line> =
        text.lines().map(|line| Line { text: line.to_owned(), statement: rewritten(line.trim()) }).collect();
    let before = names(made);
    script::read(&mut reader.inner, phase, kind, &lines, made);
    let after: Vec<String> = names(made).into_iter().skip(before.len()).collect();
    for found in lines.iter().filter_map(|line| SET.captures(&line.statement)) {
        let variable = reader.inner.variables.name(&found[2]);
        let place = match &found[1] {
            "globals" => Place::Globals,
            "collectionVariables" => Place::Base,
            "variables" => Place::Run,
            _ => Place::Environment,
        };
        if after.contains(&variable) {
            reader.scope.assign(&found[2], place);
        }
    }
}

/// Returns the names of the variables that a script sets.
pub(super) fn set_by(text: &str) -> Vec<String> {
    let lines = text.lines().map(|line| rewritten(line.trim()));
    lines.filter_map(|line| Some(SET.captures(&line)?[2].to_owned())).collect()
}

/// Returns the names of the variables that an entry defines or captures.
fn names(made: &DraftEntry) -> Vec<String> {
    use torr_session::hurl::ast::OptionValue;
    let defined = made.entry.request.options.iter().filter_map(|option| match &option.value {
        OptionValue::Definition { name, .. } => Some(name.clone()),
        _ => None,
    });
    let captures = made.entry.response.iter().flat_map(|response| &response.captures);
    defined.chain(captures.filter_map(|capture| capture.name.literal().map(str::to_owned))).collect()
}

/// Returns a statement in Postman's words.
fn rewritten(statement: &str) -> String {
    let made =
        NAMES.iter().fold(statement.to_owned(), |text, (pattern, name)| pattern.replace_all(&text, *name).into_owned());
    // A test that is skipped expects nothing; what no reader understands is kept as a comment.
    if SKIP.is_match(&made) { statement.to_owned() } else { made }
}
