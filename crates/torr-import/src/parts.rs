//! Parts of hurl files that every import writes.

use torr_session::hurl::Position;
use torr_session::hurl::ast::{EntryOption, Expression, KeyValue, OptionName, OptionValue, Source, Template};

/// The place of everything that an import writes: a hurl file that is written has no other.
pub(crate) const NOWHERE: Position = Position { line: 1, column: 1 };

/// Returns a name and a value.
pub(crate) fn pair(name: &str, value: Template) -> KeyValue {
    KeyValue { name: name.into(), value, at: NOWHERE }
}

/// Returns an option of an entry.
pub(crate) fn option(name: OptionName, value: OptionValue) -> EntryOption {
    EntryOption { name, value, at: NOWHERE }
}

/// Returns the expression that stands for a variable.
pub(crate) fn variable(name: &str) -> Expression {
    Expression { source: Source::Variable(name.to_owned()), filters: Vec::new(), at: NOWHERE }
}

/// Returns the name of a new variable, made from the name of what it stands for: with a number where the name is taken.
pub(crate) fn variable_name(name: &str, is_taken: impl Fn(&str) -> bool) -> String {
    let base: String = name.chars().map(|c| if c.is_alphanumeric() { c.to_ascii_lowercase() } else { '_' }).collect();
    let base = match base.trim_matches('_') {
        "" => "value",
        base => base,
    };
    let numbered = (2..).map(|number| format!("{base}_{number}"));
    std::iter::once(base.to_owned()).chain(numbered).find(|name| !is_taken(name)).unwrap_or_default()
}

/// Whether text is an object or a list of JSON.
pub(crate) fn is_json(text: &str) -> bool {
    serde_json::from_str::<serde_json::Value>(text).is_ok_and(|json| json.is_object() || json.is_array())
}
