//! Values as the console shows them, in the notation that k6 has since 1.5.

use rquickjs::function::This;
use rquickjs::{Function, Object, Result, Type, Value};

use super::super::bytes;

/// Length, in bytes, from which the rest of a value is left out.
const MAX_LENGTH: usize = 1 << 20;
/// Depth of objects in objects from which the rest is left out. The call stack of a virtual user is small.
const MAX_DEPTH: usize = 40;

/// Returns a value as the console shows it.
pub fn text(value: &Value<'_>) -> Result<String> {
    match value.type_of() {
        Type::String => plain(value),
        Type::Undefined | Type::Uninitialized => Ok("undefined".to_owned()),
        Type::Symbol => symbol(value),
        _ => {
            let mut notation = Notation { text: String::new(), parents: Vec::new() };
            notation.add(value)?;
            Ok(notation.text)
        }
    }
}

struct Notation<'js> {
    text: String,
    parents: Vec<Object<'js>>,
}

impl<'js> Notation<'js> {
    fn add(&mut self, value: &Value<'js>) -> Result<()> {
        if self.text.len() > MAX_LENGTH {
            self.text.push_str("...");
            return Ok(());
        }
        let Some(object) = value.as_object() else {
            let text = match value.type_of() {
                Type::String => format!("\"{}\"", plain(value)?),
                Type::Symbol => format!("\"{}\"", symbol(value)?),
                Type::Undefined | Type::Uninitialized | Type::Null => "null".to_owned(),
                _ => plain(value)?,
            };
            self.text.push_str(&text);
            return Ok(());
        };
        if value.is_function() {
            self.text.push_str("[object Function]");
        } else if value.is_error() {
            self.text.push_str(&plain(value)?);
        } else if self.parents.contains(object) {
            self.text.push_str("[Circular]");
        } else if self.parents.len() >= MAX_DEPTH {
            self.text.push_str("...");
        } else {
            self.parents.push(object.clone());
            let added = self.add_object(object);
            self.parents.pop();
            added?;
        }
        Ok(())
    }

    fn add_object(&mut self, object: &Object<'js>) -> Result<()> {
        if is_array(object)? {
            let length: usize = object.get("length")?;
            return self.add_list(object, length);
        }
        if let Some(name) = view_name(object)? {
            let length: usize = object.get("length")?;
            self.text.push_str(&format!("{name}({length}) "));
            return self.add_list(object, length);
        }
        if rquickjs::ArrayBuffer::from_object(object.clone()).is_some() {
            let content = bytes::of_buffer(object)?.unwrap_or_default();
            let shown: Vec<String> = content.iter().take(MAX_LENGTH / 3).map(|byte| format!("{byte:02x}")).collect();
            let shown = shown.join(" ");
            self.text.push_str(&format!("ArrayBuffer {{ [Uint8Contents]: <{shown}>, byteLength: {} }}", content.len()));
            return Ok(());
        }
        if let Some(date) = date(object)? {
            self.text.push_str(&date);
            return Ok(());
        }
        let mut empty = true;
        for key in object.keys::<String>() {
            let key = key?;
            self.text.push_str(if empty { "{ " } else { ", " });
            empty = false;
            self.text.push_str(&key);
            self.text.push_str(": ");
            let value: Value<'js> = object.get(key.as_str())?;
            self.add(&value)?;
            if self.text.len() > MAX_LENGTH {
                break;
            }
        }
        self.text.push_str(if empty { "{}" } else { " }" });
        Ok(())
    }

    fn add_list(&mut self, list: &Object<'js>, length: usize) -> Result<()> {
        if length == 0 {
            self.text.push_str("[]");
            return Ok(());
        }
        self.text.push_str("[ ");
        for at in 0..length {
            if at > 0 {
                self.text.push_str(", ");
            }
            let value: Value<'js> = list.get(u32::try_from(at).unwrap_or(u32::MAX))?;
            self.add(&value)?;
            if self.text.len() > MAX_LENGTH {
                break;
            }
        }
        self.text.push_str(" ]");
        Ok(())
    }
}

/// Returns `String(value)`.
fn plain(value: &Value<'_>) -> Result<String> {
    if let Some(text) = value.as_string() {
        // A string with a lone surrogate has no UTF-8: it is shown with a replacement character.
        return Ok(text.to_string().or_else(|_| well_formed(value)).unwrap_or_default());
    }
    let string: Function<'_> = value.ctx().globals().get("String")?;
    string.call((value.clone(),))
}

fn well_formed(value: &Value<'_>) -> Result<String> {
    let bytes = bytes::of(value)?.unwrap_or_default();
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn symbol(value: &Value<'_>) -> Result<String> {
    let Some(symbol) = value.as_symbol() else { return Ok(String::new()) };
    let description = symbol.description()?;
    if description.is_undefined() { Ok(String::new()) } else { plain(&description) }
}

fn is_array(object: &Object<'_>) -> Result<bool> {
    let class: Object<'_> = object.ctx().globals().get("Array")?;
    let is_array: Function<'_> = class.get("isArray")?;
    is_array.call((object.clone(),))
}

/// Returns the class of a typed array.
fn view_name(object: &Object<'_>) -> Result<Option<String>> {
    let ctx = object.ctx();
    let uint8: Object<'_> = ctx.globals().get("Uint8Array")?;
    let Some(class) = uint8.get_prototype() else { return Ok(None) };
    if !object.is_instance_of(&class) {
        return Ok(None);
    }
    Ok(Some(object.get::<_, Object<'_>>("constructor")?.get("name")?))
}

/// Returns a date as its JSON: a quoted string, or `{}` if it is invalid.
fn date(object: &Object<'_>) -> Result<Option<String>> {
    let class: Object<'_> = object.ctx().globals().get("Date")?;
    if !object.is_instance_of(&class) {
        return Ok(None);
    }
    let convert: Function<'_> = object.get("toJSON")?;
    let json: Option<String> = convert.call((This(object.clone()),))?;
    Ok(Some(json.map_or_else(|| "{}".to_owned(), |json| format!("\"{json}\""))))
}
