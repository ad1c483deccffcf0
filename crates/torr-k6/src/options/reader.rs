//! Reading single values of options from JSON: a wrong type is an error that names the option, `null` means unset.

use super::duration;
use super::error::OptionError;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::time::Duration;

/// The largest integer that is accepted: what a JavaScript number holds exactly.
const MAX_INTEGER: u64 = (1 << 53) - 1;

/// Returns the kind of a value as an error names it.
pub(super) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

/// Reads an integer from a number or a numeric string; `null` and the empty string are unset.
pub(super) fn integer(path: &str, value: &Value) -> Result<Option<u64>, OptionError> {
    let shown = match value {
        Value::Null => return Ok(None),
        Value::String(text) if text.trim().is_empty() => return Ok(None),
        Value::Number(number) => number.to_string(),
        Value::String(text) => text.trim().to_owned(),
        other => return Err(OptionError::new(path, format!("expected an integer, found {}", kind(other)))),
    };
    // 10.0 is an integer for JSON.stringify's reader as well, but no such text comes from JavaScript.
    if let Ok(number) = shown.parse::<u64>() {
        if number <= MAX_INTEGER {
            return Ok(Some(number));
        }
        return Err(OptionError::new(path, format!("must be at most {MAX_INTEGER}, found {shown}")));
    }
    let negative = shown.parse::<i64>().is_ok_and(|number| number < 0);
    let message = if negative { "must not be negative, found" } else { "expected an integer, found" };
    Err(OptionError::new(path, format!("{message} '{shown}'")))
}

/// Reads a boolean; `null` is unset.
pub(super) fn boolean(path: &str, value: &Value) -> Result<Option<bool>, OptionError> {
    match value {
        Value::Null => Ok(None),
        Value::Bool(flag) => Ok(Some(*flag)),
        other => Err(OptionError::new(path, format!("expected true or false, found {}", kind(other)))),
    }
}

/// Reads a string; `null` is unset.
pub(super) fn string(path: &str, value: &Value) -> Result<Option<String>, OptionError> {
    match value {
        Value::Null => Ok(None),
        Value::String(text) => Ok(Some(text.clone())),
        other => Err(OptionError::new(path, format!("expected a string, found {}", kind(other)))),
    }
}

/// Reads a duration from a string or a number of milliseconds; `null` and the empty string are unset.
pub(super) fn duration(path: &str, value: &Value) -> Result<Option<Duration>, OptionError> {
    let read = match value {
        Value::Null => return Ok(None),
        Value::String(text) if text.is_empty() => return Ok(None),
        Value::String(text) => duration::parse(text),
        Value::Number(number) => duration::from_millis(number.as_f64().unwrap_or(f64::NAN)),
        other => Err(format!("expected a duration, found {}", kind(other))),
    };
    read.map(Some).map_err(|message| OptionError::new(path, message))
}

/// Reads a list of strings; `null` is unset.
pub(super) fn strings(path: &str, value: &Value) -> Result<Option<Vec<String>>, OptionError> {
    match value {
        Value::Null => Ok(None),
        Value::Array(items) => {
            let read = |item: &Value| match item {
                Value::String(text) => Ok(text.clone()),
                other => {
                    Err(OptionError::new(path, format!("expected an array of strings, found {} in it", kind(other))))
                }
            };
            items.iter().map(read).collect::<Result<_, _>>().map(Some)
        }
        other => Err(OptionError::new(path, format!("expected an array of strings, found {}", kind(other)))),
    }
}

/// Reads an object; `null` is unset.
pub(super) fn object<'v>(path: &str, value: &'v Value) -> Result<Option<&'v Map<String, Value>>, OptionError> {
    match value {
        Value::Null => Ok(None),
        Value::Object(fields) => Ok(Some(fields)),
        other => Err(OptionError::new(path, format!("expected an object, found {}", kind(other)))),
    }
}

/// Reads an object whose values are strings; `null` is unset.
pub(super) fn string_map(path: &str, value: &Value) -> Result<Option<BTreeMap<String, String>>, OptionError> {
    let Some(fields) = object(path, value)? else { return Ok(None) };
    let mut map = BTreeMap::new();
    for (name, value) in fields {
        let Value::String(text) = value else {
            let found = kind(value);
            return Err(OptionError::new(format!("{path}.{name}"), format!("expected a string, found {found}")));
        };
        map.insert(name.clone(), text.clone());
    }
    Ok(Some(map))
}
