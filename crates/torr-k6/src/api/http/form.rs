//! Forms: values of scripts as `application/x-www-form-urlencoded`, as k6 writes them.

use rquickjs::{Coerced, FromJs, Object, Result, Value};

/// Returns the form of an object, its keys sorted.
///
/// # Errors
/// Whatever a getter of the object throws.
pub fn encode(object: &Object<'_>) -> Result<String> {
    let mut pairs = pairs(object)?;
    pairs.sort_by(|(one, _), (other, _)| one.cmp(other));
    Ok(encode_pairs(&pairs))
}

/// Returns the form of names and values in their order.
#[must_use]
pub fn encode_pairs(pairs: &[(String, String)]) -> String {
    let mut text = String::new();
    for (name, value) in pairs {
        if !text.is_empty() {
            text.push('&');
        }
        escape(name, &mut text);
        text.push('=');
        escape(value, &mut text);
    }
    text
}

/// Returns the names and values of an object; an array gives a pair for each item.
pub fn pairs(object: &Object<'_>) -> Result<Vec<(String, String)>> {
    let mut pairs = Vec::new();
    for property in object.props::<String, Value<'_>>() {
        let (name, value) = property?;
        match value.as_array() {
            Some(items) => {
                for item in items.iter::<Value<'_>>() {
                    pairs.push((name.clone(), notation(&item?)?));
                }
            }
            None => pairs.push((name, notation(&value)?)),
        }
    }
    Ok(pairs)
}

/// Returns a value in the notation in which k6 writes it into forms.
pub fn notation(value: &Value<'_>) -> Result<String> {
    if value.is_null() || value.is_undefined() {
        return Ok("<nil>".to_owned());
    }
    if let Some(items) = value.as_array() {
        let items = items.iter::<Value<'_>>().map(|item| notation(&item?)).collect::<Result<Vec<_>>>()?;
        return Ok(format!("[{}]", items.join(" ")));
    }
    if let Some(object) = value.as_object().filter(|_| !value.is_function() && !value.is_string()) {
        let mut parts = Vec::new();
        for property in object.props::<String, Value<'_>>() {
            let (name, value) = property?;
            parts.push((name, notation(&value)?));
        }
        parts.sort();
        let parts: Vec<_> = parts.into_iter().map(|(name, value)| format!("{name}:{value}")).collect();
        return Ok(format!("map[{}]", parts.join(" ")));
    }
    Ok(Coerced::<String>::from_js(value.ctx(), value.clone())?.0)
}

/// Appends a text as a form has it: a blank becomes `+`, all but letters, digits and `-_.~` are escaped.
fn escape(text: &str, out: &mut String) {
    for byte in text.bytes() {
        match byte {
            b' ' => out.push('+'),
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => out.push(char::from(byte)),
            _ => {
                const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
                out.push('%');
                out.push(char::from(DIGITS[usize::from(byte >> 4)]));
                out.push(char::from(DIGITS[usize::from(byte & 15)]));
            }
        }
    }
}
