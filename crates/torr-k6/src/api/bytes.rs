//! Bytes that scripts hand over: strings, ArrayBuffers and views of these.

use rquickjs::{ArrayBuffer, Ctx, Object, Result, TypedArray, Value};

use crate::host::go_error;

/// Returns the bytes of a string (as UTF-8), an ArrayBuffer, a typed array or a DataView; `None` for other values.
pub fn of<'js>(value: &Value<'js>) -> Result<Option<Vec<u8>>> {
    if let Some(text) = value.as_string() {
        return Ok(Some(text.to_string().unwrap_or_else(|_| lossy(value)).into_bytes()));
    }
    match value.as_object() {
        Some(object) => of_buffer(object),
        None => Ok(None),
    }
}

/// Returns the bytes of an ArrayBuffer or of a view of one; `None` for other objects.
pub fn of_buffer(object: &Object<'_>) -> Result<Option<Vec<u8>>> {
    if let Some(buffer) = ArrayBuffer::from_object(object.clone()) {
        return Ok(Some(copy(&buffer)));
    }
    if !is_view(object)? {
        return Ok(None);
    }
    let Some(buffer) = object.get::<_, Value<'_>>("buffer")?.into_object().and_then(ArrayBuffer::from_object) else {
        return Ok(None);
    };
    let whole = copy(&buffer);
    let offset: usize = object.get("byteOffset")?;
    let length: usize = object.get("byteLength")?;
    let end = offset.saturating_add(length).min(whole.len());
    Ok(Some(whole.get(offset..end).unwrap_or_default().to_vec()))
}

/// Returns the bytes of `value`, or throws with k6's words for a value that has none.
pub fn required<'js>(ctx: &Ctx<'js>, value: &Value<'js>, prefix: &str) -> Result<Vec<u8>> {
    match of(value)? {
        Some(bytes) => Ok(bytes),
        None => {
            let found = go_type(value);
            let message = format!("{prefix}invalid type {found}, expected string, []byte or ArrayBuffer");
            Err(go_error(ctx, &message))
        }
    }
}

/// Overwrites the bytes of a typed array of integers of any width; `false` if it is none. The bytes have its length.
pub fn fill(object: &Object<'_>, bytes: impl FnOnce(usize) -> Vec<u8>) -> Result<bool> {
    let name: String = object.get::<_, Object<'_>>("constructor")?.get("name")?;
    let whole_numbers = ["Int8", "Uint8", "Int16", "Uint16", "Int32", "Uint32", "BigInt64", "BigUint64"];
    if !is_view(object)? || !whole_numbers.iter().any(|kind| name.starts_with(kind)) {
        return Ok(false);
    }
    let length: usize = object.get("byteLength")?;
    let offset: usize = object.get("byteOffset")?;
    let buffer: Object<'_> = object.get("buffer")?;
    let uint8: rquickjs::function::Constructor<'_> = object.ctx().globals().get("Uint8Array")?;
    let view: Object<'_> = uint8.construct((buffer, offset, length))?;
    let source = TypedArray::<u8>::new(object.ctx().clone(), bytes(length))?;
    let set: rquickjs::Function<'_> = view.get("set")?;
    set.call::<_, ()>((rquickjs::function::This(view), source))?;
    Ok(true)
}

fn is_view(object: &Object<'_>) -> Result<bool> {
    let class: Object<'_> = object.ctx().globals().get("ArrayBuffer")?;
    let is_view: rquickjs::Function<'_> = class.get("isView")?;
    is_view.call((object.clone(),))
}

fn copy(buffer: &ArrayBuffer<'_>) -> Vec<u8> {
    // SAFETY: no JavaScript runs between taking the slice and copying it, so nothing can resize or detach the buffer.
    unsafe { buffer.as_bytes() }.map(<[u8]>::to_vec).unwrap_or_default()
}

/// Returns a string that is not valid UTF-16 with replacement characters for what is not.
fn lossy(value: &Value<'_>) -> String {
    let well_formed = || -> Result<String> {
        let class: Object<'_> = value.ctx().globals().get("String")?;
        let prototype: Object<'_> = class.get("prototype")?;
        let convert: rquickjs::Function<'_> = prototype.get("toWellFormed")?;
        convert.call((rquickjs::function::This(value.clone()),))
    };
    well_formed().unwrap_or_default()
}

/// Returns the name that k6 has for the type of a value without bytes.
fn go_type(value: &Value<'_>) -> &'static str {
    if value.is_null() || value.is_undefined() {
        "<nil>"
    } else if value.is_int() {
        "int64"
    } else if value.is_number() {
        "float64"
    } else if value.is_bool() {
        "bool"
    } else if value.is_array() {
        "[]interface {}"
    } else {
        "map[string]interface {}"
    }
}
