//! Values of scripts as host functions read them.

use rquickjs::{Coerced, FromJs, Result, Value};

/// Returns a value as text, as `String()` does.
///
/// # Errors
/// Whatever its `toString` throws.
pub fn text_of(value: &Value<'_>) -> Result<String> {
    Ok(Coerced::<String>::from_js(value.ctx(), value.clone())?.0)
}

/// Returns whether a value is `undefined` or `null`.
#[must_use]
pub fn is_nothing(value: &Value<'_>) -> bool {
    value.is_undefined() || value.is_null()
}

/// Returns whether a condition takes a value as true.
///
/// # Errors
/// If the script engine has no memory left.
pub fn is_true(value: &Value<'_>) -> Result<bool> {
    Ok(Coerced::<bool>::from_js(value.ctx(), value.clone())?.0)
}
