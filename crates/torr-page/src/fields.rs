//! Fields of a result by their paths, such as `latency_us.p99`.

use serde_json::Value;

/// Returns the value at a path of names with dots between them; `None` if it is missing or null.
pub fn field<'v>(value: &'v Value, path: &str) -> Option<&'v Value> {
    path.split('.').try_fold(value, |value, name| value.get(name)).filter(|value| !value.is_null())
}

/// Returns the finite number at a path.
pub fn number(value: &Value, path: &str) -> Option<f64> {
    field(value, path)?.as_f64().filter(|number| number.is_finite())
}

/// Returns the text at a path.
pub fn text<'v>(value: &'v Value, path: &str) -> Option<&'v str> {
    field(value, path)?.as_str()
}

/// Returns whether the value at a path is `true`.
pub fn flag(value: &Value, path: &str) -> bool {
    field(value, path).and_then(Value::as_bool).unwrap_or(false)
}

/// Returns the elements of the list at a path; none if it is missing.
pub fn list<'v>(value: &'v Value, path: &str) -> &'v [Value] {
    field(value, path).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// Returns the strings of the list at a path.
pub fn texts<'v>(value: &'v Value, path: &str) -> impl Iterator<Item = &'v str> {
    list(value, path).iter().filter_map(Value::as_str)
}

/// Whether the responses of a run are streams.
pub fn has_streams(value: &Value) -> bool {
    field(value, "streams").is_some_and(Value::is_object)
}
