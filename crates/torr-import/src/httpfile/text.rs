//! Text with variables, as the clients read it: an expression ends on the line on which it begins.

use crate::pattern::pattern;
use regex::Regex;
use std::sync::LazyLock;

static EXPRESSION: LazyLock<Regex> = LazyLock::new(|| pattern(r"\{\{\s*([^\n{}]+?)\s*\}\}"));

/// A piece of text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part<'t> {
    /// Text.
    Plain(&'t str),
    /// What stands between two pairs of braces.
    Expression(&'t str),
}

/// Splits text at its expressions.
pub(super) fn parts(text: &str) -> Vec<Part<'_>> {
    let (mut parts, mut end) = (Vec::new(), 0);
    for found in EXPRESSION.captures_iter(text) {
        let (Some(whole), Some(inner)) = (found.get(0), found.get(1)) else { continue };
        // JSON without spaces, and no expression.
        if inner.as_str().starts_with('"') {
            continue;
        }
        if end < whole.start() {
            parts.push(Part::Plain(&text[end..whole.start()]));
        }
        parts.push(Part::Expression(inner.as_str()));
        end = whole.end();
    }
    if end < text.len() {
        parts.push(Part::Plain(&text[end..]));
    }
    parts
}

/// Returns the expressions of a text.
pub(super) fn expressions(text: &str) -> impl Iterator<Item = &str> {
    parts(text).into_iter().filter_map(|part| if let Part::Expression(of) = part { Some(of) } else { None })
}

/// Whether an expression is the name of a variable.
pub(super) fn is_name(expression: &str) -> bool {
    !expression.starts_with('$')
        && expression.chars().all(|next| next.is_alphanumeric() || matches!(next, '_' | '-' | '.' | '$'))
}

/// Returns text with a value in the place of an expression.
pub(super) fn with_value(text: &str, expression: &str, value: &str) -> String {
    let part = |part: Part<'_>| match part {
        Part::Plain(text) => text.to_owned(),
        Part::Expression(of) if of == expression => value.to_owned(),
        Part::Expression(of) => format!("{{{{{of}}}}}"),
    };
    parts(text).into_iter().map(part).collect()
}
