//! Forms: values of scripts as `application/x-www-form-urlencoded`, as k6 writes them.

use crate::host;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use rquickjs::{Coerced, Exception, FromJs, Object, Result, Value};

/// The most levels of objects in objects. The call stack of a virtual user is small.
const MAX_DEPTH: usize = 40;
/// The bytes that forms escape: all but letters, digits and `-_.~`, and but blanks, which become `+`.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~').remove(b' ');

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
                for item in host::items(items)? {
                    pairs.push((name.clone(), notation(&item?)?));
                }
            }
            None => pairs.push((name, notation(&value)?)),
        }
    }
    Ok(pairs)
}

/// Returns a value in the notation in which k6 writes it into forms.
///
/// # Errors
/// Whatever a getter throws, and if objects are nested too deeply, such as one that contains itself.
pub fn notation(value: &Value<'_>) -> Result<String> {
    nested(value, 0)
}

fn nested(value: &Value<'_>, depth: usize) -> Result<String> {
    if value.is_null() || value.is_undefined() {
        return Ok("<nil>".to_owned());
    }
    if depth > MAX_DEPTH {
        let why = format!("cannot write a value of a form: objects are nested in more than {MAX_DEPTH} levels");
        return Err(Exception::throw_type(value.ctx(), &why));
    }
    if let Some(items) = value.as_array() {
        let items = host::items(items)?.map(|item| nested(&item?, depth + 1)).collect::<Result<Vec<_>>>()?;
        return Ok(format!("[{}]", items.join(" ")));
    }
    if let Some(object) = value.as_object().filter(|_| !value.is_function() && !value.is_string()) {
        let mut parts = Vec::new();
        for property in object.props::<String, Value<'_>>() {
            let (name, value) = property?;
            parts.push((name, nested(&value, depth + 1)?));
        }
        parts.sort();
        let parts: Vec<_> = parts.into_iter().map(|(name, value)| format!("{name}:{value}")).collect();
        return Ok(format!("map[{}]", parts.join(" ")));
    }
    Ok(Coerced::<String>::from_js(value.ctx(), value.clone())?.0)
}

/// Appends a text as a form has it.
fn escape(text: &str, out: &mut String) {
    out.extend(utf8_percent_encode(text, ESCAPED).map(|part| part.replace(' ', "+")));
}
