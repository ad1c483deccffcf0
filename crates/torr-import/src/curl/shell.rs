//! Variables of the shell, such as `$TOKEN`, which become variables of the hurl file. Between two marks they pass through the
//! words of a command.

use crate::parts::{push, variable};
use crate::secret::Secrets;
use torr_session::hurl::ast::{Expression, Filter, Piece, Template};

/// Characters for private use, which no command has.
const OPEN: char = '\u{f0001}';
const CLOSE: char = '\u{f0002}';
/// Stands before the end of a variable whose value is to be percent-encoded.
const ENCODED: char = '\u{f0003}';

/// Returns what stands for a variable in a word.
pub(super) fn mark(name: &str) -> String {
    let plain: String = name.chars().map(|next| if next.is_ascii_alphanumeric() { next } else { '_' }).collect();
    let plain = match plain.trim_matches('_') {
        "" => "value",
        // Names of functions.
        "newUuid" | "newDate" | "getEnv" => "value",
        plain => plain,
    };
    format!("{OPEN}{plain}{CLOSE}")
}

/// Whether a text has variables.
pub(super) fn has(text: &str) -> bool {
    text.contains(OPEN)
}

/// Returns the names of the variables of a text.
pub(super) fn names(text: &str) -> impl Iterator<Item = &str> {
    text.split(OPEN).skip(1).filter_map(|rest| Some(rest.split_once(CLOSE)?.0.trim_end_matches(ENCODED)))
}

/// Returns a text as a shell shows it.
pub(super) fn shown(text: &str) -> String {
    text.replace(OPEN, "$").replace([CLOSE, ENCODED], "")
}

/// Returns a text with a value in the place of each variable, to look at what else it says.
pub(super) fn filled(text: &str) -> String {
    let mut parts = text.split(OPEN);
    let mut filled = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        filled.push('x');
        filled.push_str(part.split_once(CLOSE).map_or("", |(_, rest)| rest));
    }
    filled
}

/// Returns a text with what stands beside its variables encoded, and its variables to be encoded when they have a value.
pub(super) fn encoded(text: &str, encode: impl Fn(&[u8]) -> String) -> String {
    let mut parts = text.split(OPEN);
    let mut out = encode(parts.next().unwrap_or_default().as_bytes());
    for (name, rest) in parts.filter_map(|part| part.split_once(CLOSE)) {
        out.extend([OPEN.to_string(), name.to_owned(), ENCODED.to_string(), CLOSE.to_string()]);
        out.push_str(&encode(rest.as_bytes()));
    }
    out
}

/// Returns a text with placeholders for its variables.
pub(super) fn template(text: &str) -> Template {
    let mut pieces = Vec::new();
    let mut parts = text.split(OPEN);
    push(&mut pieces, Piece::Text(parts.next().unwrap_or_default().to_owned()));
    for part in parts {
        let Some((name, rest)) = part.split_once(CLOSE) else { continue };
        let expression = match name.strip_suffix(ENCODED) {
            Some(name) => Expression { filters: vec![Filter::UrlEncode], ..variable(name) },
            None => variable(name),
        };
        push(&mut pieces, Piece::Placeholder(expression));
        push(&mut pieces, Piece::Text(rest.to_owned()));
    }
    Template(pieces)
}

/// Returns the value of a field: what the shell knows is no secret of the text.
pub(super) fn field(name: &str, value: &str, secrets: &mut Secrets) -> Template {
    if has(value) { template(value) } else { secrets.field(name, value) }
}

/// Returns the value of a parameter.
pub(super) fn parameter(name: &str, value: &str, secrets: &mut Secrets) -> Template {
    if has(value) { template(value) } else { secrets.parameter(name, value) }
}
