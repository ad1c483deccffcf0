//! Text with `{{ name }}`, in the way in which Artillery finds the names.

use crate::pattern::pattern;
use regex::Regex;
use std::sync::LazyLock;

/// A name, or a call of a function. Artillery takes up to three braces on each side for those of a name, also where one of them
/// belongs to the text around it.
static PLACE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r#"\{\{\s*(\$[A-Za-z0-9_]+)\s*\(([A-Za-z0-9_,\s]*)\)\s*\}\}|\{\{\{?([\s$A-Za-z0-9_.\[\]'"-]+)\}\}\}?"#)
});

/// A piece of text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part<'t> {
    Text(&'t str),
    /// The name of a variable, or a path into one.
    Name(&'t str),
    /// A function, and what stands between its parentheses.
    Call(&'t str, &'t str),
}

/// Splits text at its names.
pub(super) fn parts(text: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let mut end = 0;
    for found in PLACE.captures_iter(text) {
        let (Some(whole), name) = (found.get(0), found.get(3)) else { continue };
        if whole.start() > end {
            parts.push(Part::Text(&text[end..whole.start()]));
        }
        parts.push(match (found.get(1), found.get(2), name) {
            (Some(function), Some(inner), _) => Part::Call(function.as_str(), inner.as_str()),
            (.., Some(name)) => Part::Name(name.as_str().trim()),
            _ => Part::Text(whole.as_str()),
        });
        end = whole.end();
    }
    if end < text.len() {
        parts.push(Part::Text(&text[end..]));
    }
    parts
}

/// Returns the name that is all of a text, whose value keeps its type.
pub(super) fn whole(text: &str) -> Option<&str> {
    match parts(text)[..] {
        [Part::Name(name)] => Some(name),
        _ => None,
    }
}

/// Whether text has names or calls.
pub(super) fn has_names(text: &str) -> bool {
    PLACE.is_match(text)
}

/// Returns the variable of the environment of Artillery's process that a name stands for.
pub(super) fn of_process(name: &str) -> Option<&str> {
    ["$env.", "$processEnvironment."].iter().find_map(|prefix| name.strip_prefix(prefix))
}

/// Whether text can stand as the name of a variable of the environment in a hurl file.
pub(super) fn is_plain(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}
