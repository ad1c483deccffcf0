//! `group`: a function whose samples carry the path of the groups around it.

use super::refuse::{is_async, refuse_separator};
use crate::host::go_error;
use crate::metrics::builtin;
use crate::user::Vu;
use rquickjs::function::Opt;
use rquickjs::{Coerced, Ctx, Result, Value};
use std::time::Instant;

/// Calls a function within a group, and returns what it returns.
pub(super) fn group<'js>(ctx: Ctx<'js>, name: Coerced<String>, function: Opt<Value<'js>>) -> Result<Value<'js>> {
    let vu = Vu::of(&ctx);
    if vu.is_init() {
        return Err(go_error(&ctx, "group() is not supported in the init context"));
    }
    let Some(function) = function.0.and_then(Value::into_function) else {
        return Err(go_error(&ctx, "group() needs a function as its second argument"));
    };
    if is_async(&function)? {
        let why = "group() does not support async functions: call group() without await in them instead";
        return Err(go_error(&ctx, why));
    }
    refuse_separator(&ctx, &name.0)?;
    let outer = vu.tags.borrow().group().to_owned();
    // A group without a name is no group at the root.
    let path = if outer.is_empty() && name.0.is_empty() { String::new() } else { format!("{outer}::{}", name.0) };
    vu.tags.borrow_mut().set_group(&path);
    let begun = Instant::now();
    let outcome = function.call::<_, Value<'js>>(());
    let took = begun.elapsed();
    let mut tags = vu.tags.borrow_mut();
    if !vu.interrupts.is_set() {
        let mut recorder = vu.recorder.borrow_mut();
        let set = tags.set(&mut recorder);
        recorder.add_time(builtin::GROUP_DURATION, took, &set);
    }
    tags.set_group(&outer);
    outcome
}
