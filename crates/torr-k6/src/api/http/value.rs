//! Values of scripts as host functions read them.

use rquickjs::{Coerced, FromJs, Result, Value};

/// Returns the bytes of a string in UTF-8, of an ArrayBuffer, of a typed array or of a DataView; `None` of anything else.
#[must_use]
pub fn bytes_of(value: &Value<'_>) -> Option<Vec<u8>> {
    if let Some(text) = value.as_string() {
        return text.to_string().ok().map(String::into_bytes);
    }
    let object = value.as_object()?;
    if let Some(buffer) = object.as_array_buffer() {
        // SAFETY: the bytes are copied before the script can change them.
        return unsafe { buffer.as_bytes() }.map(<[u8]>::to_vec);
    }
    let buffer: Value<'_> = object.get("buffer").ok()?;
    let buffer = buffer.as_object()?.as_array_buffer()?;
    let number = |name: &str| object.get::<_, f64>(name).ok().map(|number| number as usize);
    let (from, len) = (number("byteOffset")?, number("byteLength")?);
    // SAFETY: as above.
    unsafe { buffer.as_bytes() }?.get(from..from + len).map(<[u8]>::to_vec)
}

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
