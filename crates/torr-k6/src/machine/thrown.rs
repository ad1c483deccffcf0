//! What scripts throw, as an error with its place.

use crate::error::{ErrorKind, NATIVE, ScriptError};
use rquickjs::{Ctx, Error, Exception, Value};

/// Returns the error of a call that has failed, and takes what was thrown from the context.
pub fn script_error(ctx: &Ctx<'_>, error: &Error) -> ScriptError {
    match error {
        Error::Exception => thrown(&ctx.catch()),
        other => ScriptError::new(ErrorKind::Exception, other.to_string()),
    }
}

/// Returns the error that a thrown value stands for.
pub fn thrown(value: &Value<'_>) -> ScriptError {
    let mut error = ScriptError::new(ErrorKind::Exception, text_of(value));
    if let Some(stack) = value.as_object().and_then(|object| object.get::<_, Option<String>>("stack").ok().flatten()) {
        error.place = place_of(&stack);
        error.stack = stack;
    }
    error
}

/// Returns the text of a thrown value: class and message of an error, anything else as text or as JSON.
pub fn text_of(value: &Value<'_>) -> String {
    let ctx = value.ctx();
    if let Some(object) =
        value.as_object().filter(|_| value.as_object().and_then(|o| Exception::from_object(o.clone())).is_some())
    {
        let text = |key: &str| object.get::<_, Option<String>>(key).ok().flatten().unwrap_or_default();
        let (name, message) = (text("name"), text("message"));
        return match (name.as_str(), message.as_str()) {
            ("", "") => "Error".to_owned(),
            ("", message) => message.to_owned(),
            (name, "") => name.to_owned(),
            (name, message) => format!("{name}: {message}"),
        };
    }
    if let Some(text) = value.as_string().and_then(|text| text.to_string().ok()) {
        return text;
    }
    if value.is_undefined() {
        return "undefined".to_owned();
    }
    match ctx.json_stringify(value.clone()) {
        Ok(Some(json)) => json.to_string().unwrap_or_default(),
        Ok(None) => "undefined".to_owned(),
        Err(_) => {
            ctx.catch();
            "a value that is no error".to_owned()
        }
    }
}

/// Returns the place that a stack names first.
pub fn place_of(stack: &str) -> Option<String> {
    stack.lines().find_map(place)
}

/// Returns the place that a line of a stack names, if that is in a script.
fn place(line: &str) -> Option<String> {
    let line = line.trim().strip_prefix("at ")?;
    let place = match line.rfind('(') {
        Some(open) => line[open + 1..].trim_end_matches(')'),
        None => line,
    };
    (!place.is_empty() && place.split(':').next() != Some(NATIVE) && place.contains(':')).then(|| place.to_owned())
}
