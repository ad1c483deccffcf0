//! The module `k6/data`: arrays that all virtual users share.

use std::sync::Arc;

use rquickjs::function::{Constructor, Rest};
use rquickjs::prelude::{Func, Opt};
use rquickjs::{Array, Ctx, Exception, Function, IntoJs, Object, Result, Value};

use super::builtin::Builtin;
use crate::host::{self, Held, go_error};
use crate::modules::{in_init, require_init};
use crate::shared_arrays::{Elements, SharedArrays};

/// The module `k6/data`.
pub struct Data;

/// Tag of the functions that the arrays of a runtime use.
struct Tools;

impl Builtin for Data {
    const NAMES: &'static [&'static str] = &["k6/data"];
    const EXPORTS: &'static [&'static str] = &["SharedArray"];

    fn object<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
        let tools = Held::<'js, Tools>::of(ctx)?;
        let globals = ctx.globals();
        tools.set("freeze", globals.get::<_, Object<'js>>("Object")?.get::<_, Value<'js>>("freeze")?)?;
        tools.set("Proxy", globals.get::<_, Value<'js>>("Proxy")?)?;
        let class = Function::new(ctx.clone(), shared_array)?.with_name("SharedArray")?.with_constructor(true);
        // What the class makes are arrays, but scripts may test them with `instanceof`.
        class.set("prototype", Object::new(ctx.clone())?)?;
        let object = Object::new(ctx.clone())?;
        object.set("SharedArray", class)?;
        Ok(object)
    }
}

fn shared_array<'js>(ctx: Ctx<'js>, name: Opt<Value<'js>>, make: Opt<Value<'js>>) -> Result<Value<'js>> {
    if !in_init(&ctx) {
        require_init(&ctx, "new SharedArray()")?;
    }
    let name = name.0.and_then(|name| name.get::<String>().ok()).unwrap_or_default();
    if name.is_empty() {
        return Err(go_error(&ctx, "empty name provided to SharedArray's constructor"));
    }
    let Some(make) = make.0.as_ref().and_then(Value::as_function) else {
        return Err(go_error(&ctx, "a function is expected as the second argument of SharedArray's constructor"));
    };
    let arrays = SharedArrays::of(&ctx);
    let elements = match arrays.get(&name) {
        Some(elements) => elements,
        None => arrays.put(name, elements_of(&ctx, make)?),
    };
    view(&ctx, elements)
}

/// Calls the function that makes the array, and returns its elements as JSON.
fn elements_of<'js>(ctx: &Ctx<'js>, make: &Function<'js>) -> Result<Elements> {
    let kind: String = make.get::<_, Object<'js>>("constructor")?.get("name")?;
    let refuse = || Err(go_error(ctx, "SharedArray constructor does not support async functions as second argument"));
    if kind == "AsyncFunction" {
        return refuse();
    }
    let made: Value<'js> = make.call(())?;
    if made.is_promise() {
        return refuse();
    }
    let Some(array) = made.as_array() else {
        return Err(go_error(ctx, "only arrays can be made into SharedArray"));
    };
    let mut elements = Vec::new();
    for element in host::items(array)? {
        // What JSON has no text for, such as a function, is lost: `null`.
        let json = ctx.json_stringify(element?)?.map(|text| text.to_string()).transpose()?;
        elements.push(json.unwrap_or_else(|| "null".to_owned()).into_boxed_str());
    }
    Ok(Arc::new(elements))
}

/// Returns an array that parses an element each time it is read, and that cannot be written.
fn view<'js>(ctx: &Ctx<'js>, elements: Elements) -> Result<Value<'js>> {
    let handler = Object::new(ctx.clone())?;
    let read = elements.clone();
    let get = move |ctx: Ctx<'js>, target: Object<'js>, key: Value<'js>| -> Result<Value<'js>> {
        match position(&key) {
            Key::Index(at) => element(&ctx, &read, at),
            Key::Length => read.len().into_js(&ctx),
            Key::Other => target.get(key),
        }
    };
    handler.set("get", Func::from(get))?;
    let count = elements.len();
    let has = move |target: Object<'js>, key: Value<'js>| -> Result<bool> {
        match position(&key) {
            Key::Index(at) => Ok(at < count),
            _ => target.contains_key(key),
        }
    };
    handler.set("has", Func::from(has))?;
    let own_keys = move |ctx: Ctx<'js>| -> Result<Array<'js>> {
        let keys = Array::new(ctx)?;
        for at in 0..count {
            keys.set(at, at.to_string())?;
        }
        keys.set(count, "length")?;
        Ok(keys)
    };
    handler.set("ownKeys", Func::from(own_keys))?;
    let describe = move |ctx: Ctx<'js>, _target: Object<'js>, key: Value<'js>| -> Result<Value<'js>> {
        let (value, listed) = match position(&key) {
            Key::Index(at) if at < count => (element(&ctx, &elements, at)?, true),
            Key::Length => (count.into_js(&ctx)?, false),
            _ => return Ok(Value::new_undefined(ctx)),
        };
        let description = Object::new(ctx)?;
        description.set("value", value)?;
        description.set("writable", true)?;
        description.set("enumerable", listed)?;
        // What a proxy describes as fixed has to be fixed in its target, which has no elements.
        description.set("configurable", listed)?;
        Ok(description.into_value())
    };
    handler.set("getOwnPropertyDescriptor", Func::from(describe))?;
    for name in ["set", "deleteProperty", "defineProperty", "setPrototypeOf", "preventExtensions"] {
        let refuse = |ctx: Ctx<'js>, _all: Rest<Value<'js>>| -> Result<bool> {
            Err(Exception::throw_type(&ctx, "SharedArray is immutable"))
        };
        handler.set(name, Func::from(refuse))?;
    }
    let proxy: Constructor<'js> = Held::<'js, Tools>::of(ctx)?.get("Proxy")?;
    proxy.construct((Array::new(ctx.clone())?, handler))
}

enum Key {
    Index(usize),
    Length,
    Other,
}

/// Tells what the key of a property, a string or a symbol, means for an array.
fn position(key: &Value<'_>) -> Key {
    let Some(Ok(name)) = key.as_string().map(rquickjs::String::to_string) else { return Key::Other };
    if name == "length" {
        return Key::Length;
    }
    let canonical =
        name.len() <= 10 && (name == "0" || !name.starts_with('0')) && name.bytes().all(|one| one.is_ascii_digit());
    match name.parse() {
        Ok(at) if canonical => Key::Index(at),
        _ => Key::Other,
    }
}

fn element<'js>(ctx: &Ctx<'js>, elements: &Elements, at: usize) -> Result<Value<'js>> {
    let Some(json) = elements.get(at) else { return Ok(Value::new_undefined(ctx.clone())) };
    let value = ctx.json_parse(&**json)?;
    freeze(ctx, &value)?;
    Ok(value)
}

/// Freezes a value that was parsed from JSON, and all that it contains.
fn freeze<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> Result<()> {
    let Some(first) = value.as_object() else { return Ok(()) };
    let freeze: Function<'js> = Held::<'js, Tools>::of(ctx)?.get("freeze")?;
    let mut waiting = vec![first.clone()];
    while let Some(object) = waiting.pop() {
        for inner in object.values::<Value<'js>>() {
            waiting.extend(inner?.into_object());
        }
        freeze.call::<_, Value<'js>>((object,))?;
    }
    Ok(())
}
