//! Content of forms, whose names and values stand in the file as people want them to be sent.

use crate::httpfile::made::Made;
use crate::httpfile::text::{self, Part};
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};

/// What the clients encode, beside what is no ASCII and a `%` that begins no encoded byte.
const ENCODED: &AsciiSet = &CONTROLS.add(b' ').add(b'"').add(b'<').add(b'>').add(b'`').add(b'{').add(b'}');

/// Returns the content of a form, whose lines are parts of it.
pub(super) fn encoded(made: &mut Made<'_>, text: &str) -> String {
    // A line without `&` continues the one above.
    let joined: String = text.lines().map(trimmed).collect();
    let mut out = String::new();
    for part in text::parts(&joined) {
        match part {
            Part::Plain(text) => out.push_str(&percent_encoded(text)),
            Part::Expression(expression) => match value(made, expression) {
                Some(value) => out.push_str(&value),
                None => out.push_str(&format!("{{{{{expression}}}}}")),
            },
        }
    }
    out
}

/// Returns a line without the spaces around its signs.
fn trimmed(line: &str) -> String {
    let around = |text: &str, sign: &str| text.split(sign).map(str::trim).collect::<Vec<_>>().join(sign);
    around(&around(line, "="), "&")
}

/// Returns a variable's value as the clients send it, if it is known and differs from the variable's own.
fn value(made: &mut Made<'_>, expression: &str) -> Option<String> {
    if expression.starts_with('$') || !text::is_name(expression) {
        return None;
    }
    let is_known = made.reader.variables.value(expression).is_some();
    match made.reader.variables.plain_value(expression).map(str::to_owned) {
        Some(value) if value.contains("{{") => {
            let is_same = text::parts(&value).into_iter().all(|part| match part {
                Part::Plain(text) => percent_encoded(text) == text,
                Part::Expression(_) => true,
            });
            if !is_same {
                made.leave_out("encoding of a form's variable", expression, "its value is sent as it is");
            }
            None
        }
        Some(value) => Some(percent_encoded(&value)).filter(|encoded| *encoded != value),
        None => {
            let value = made.reader.variables.value(expression).unwrap_or_default();
            if !is_known || percent_encoded(value) != value {
                made.leave_out("encoding of a form's variable", expression, "its value is sent as it is");
            }
            None
        }
    }
}

fn percent_encoded(text: &str) -> String {
    let mut out = String::new();
    for (at, piece) in text.split('%').enumerate() {
        if at > 0 {
            let is_byte = piece.get(..2).is_some_and(|digits| digits.chars().all(|digit| digit.is_ascii_hexdigit()));
            out.push_str(if is_byte { "%" } else { "%25" });
        }
        out.push_str(&utf8_percent_encode(piece, ENCODED).to_string());
    }
    out
}
