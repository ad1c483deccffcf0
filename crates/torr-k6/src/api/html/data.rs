//! `data`: attributes whose names begin with `data-`, as values.

use rquickjs::{Ctx, IntoJs, Object, Result, Value};

use super::set::Selection;

/// Returns the value of one such attribute of the first node, or an object of all of them.
pub(super) fn data<'js>(ctx: &Ctx<'js>, from: &Selection, name: Option<Value<'js>>) -> Result<Value<'js>> {
    let name = name.and_then(|name| name.get::<String>().ok());
    let Some(node) = from.nodes.first().copied() else { return Ok(Value::new_undefined(ctx.clone())) };
    if let Some(name) = name {
        return match from.document.attribute(node, &format!("data-{}", dashed(&name))) {
            Some(text) => converted(ctx, text),
            None => Ok(Value::new_undefined(ctx.clone())),
        };
    }
    let all = Object::new(ctx.clone())?;
    for attribute in from.document.tree.attributes(node) {
        if let Some(name) = from.document.tree.name(attribute).local.strip_prefix("data-") {
            all.set(camel(name), converted(ctx, from.document.tree.string(attribute))?)?;
        }
    }
    Ok(all.into_value())
}

/// Returns the value that a text means: a truth value, a number, JSON, nothing, or the text.
fn converted<'js>(ctx: &Ctx<'js>, text: &str) -> Result<Value<'js>> {
    match text {
        "" | "null" | "undefined" => return Ok(Value::new_undefined(ctx.clone())),
        "true" => return true.into_js(ctx),
        "false" => return false.into_js(ctx),
        _ => {}
    }
    let looks_like_json = text.starts_with(['{', '[', '-']) || text.starts_with(|one: char| one.is_ascii_digit());
    if looks_like_json && let Ok(value) = serde_json::from_str::<serde_json::Value>(text) {
        // A number that has another text, such as 1.0 or one with too many digits, stays a text.
        if value.as_number().is_none_or(|number| number.to_string() == text) {
            return ctx.json_parse(text);
        }
    }
    text.into_js(ctx)
}

/// Returns `fooBar` as `foo-bar`.
fn dashed(name: &str) -> String {
    let mut dashed = String::with_capacity(name.len() + 4);
    for one in name.chars() {
        if one.is_ascii_uppercase() {
            dashed.push('-');
        }
        dashed.push(one.to_ascii_lowercase());
    }
    dashed
}

/// Returns `foo-bar` as `fooBar`.
fn camel(name: &str) -> String {
    let mut camel = String::with_capacity(name.len());
    let mut upper = false;
    for one in name.chars() {
        if one == '-' {
            upper = true;
        } else {
            camel.push(if upper { one.to_ascii_uppercase() } else { one });
            upper = false;
        }
    }
    camel
}
