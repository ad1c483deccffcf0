//! Scripts of JetBrains' client, whose statements are Postman's under other names.

use regex::{Captures, Regex};
use std::sync::LazyLock;

/// A condition, with or without a message.
static ASSERT: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"client\.assert\((.+?)(?:,\s*(?:"[^"]*"|'[^']*'|`[^`]*`))?\);?"#)
        .expect("the pattern is constant and tested")
});

/// Returns Postman's statement of a statement.
pub(super) fn rewritten(statement: &str) -> String {
    let renamed = [
        ("client.global.set(", "pm.environment.set("),
        ("request.variables.set(", "pm.variables.set("),
        ("client.test(", "pm.test("),
        ("response.body", "pm.response.json()"),
        ("response.status", "pm.response.code"),
        ("response.headers.valueOf(", "pm.response.headers.get("),
    ]
    .iter()
    .fold(statement.to_owned(), |text, (theirs, postmans)| text.replace(theirs, postmans));
    let condition = |found: &Captures<'_>| format!("tests[\"condition\"] = {};", &found[1]);
    ASSERT.replace(&renamed, condition).into_owned()
}
