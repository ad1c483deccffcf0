//! Tags as scripts give them to checks and metrics: strings, numbers and booleans by name.

use rquickjs::{Coerced, FromJs, Result, Value};

/// Why tags cannot be read.
pub(super) enum TagError {
    /// The script engine has an error.
    Thrown(rquickjs::Error),
    /// The name of the tag whose value has a wrong type.
    WrongType(String),
}

impl From<rquickjs::Error> for TagError {
    fn from(error: rquickjs::Error) -> Self {
        Self::Thrown(error)
    }
}

/// Returns what is wrong with the value of a tag.
pub(super) fn wrong_type(kind: &str, name: &str) -> String {
    format!("invalid value for {kind} '{name}': expected a string, a number or a boolean")
}

/// Returns the text of a tag's value; `None` for a value of a wrong type.
pub(super) fn text(value: &Value<'_>) -> Result<Option<String>> {
    if !value.is_string() && !value.is_number() && !value.is_bool() {
        return Ok(None);
    }
    Coerced::<String>::from_js(value.ctx(), value.clone()).map(|text| Some(text.0))
}

/// Reads tags. What is no object has none.
pub(super) fn read(value: Option<&Value<'_>>) -> std::result::Result<Vec<(String, String)>, TagError> {
    let mut tags = Vec::new();
    let Some(object) = value.and_then(Value::as_object) else { return Ok(tags) };
    for property in object.props::<String, Value<'_>>() {
        let (name, value) = property?;
        match text(&value)? {
            Some(text) => tags.push((name, text)),
            None => return Err(TagError::WrongType(name)),
        }
    }
    Ok(tags)
}
