//! What `check` and `group` do not take.

use crate::host::go_error;
use rquickjs::atom::PredefinedAtom;
use rquickjs::{Ctx, Function, Object, Result, Value};

/// Returns whether a function is asynchronous.
pub(super) fn is_async(function: &Function<'_>) -> Result<bool> {
    // Most functions have the prototype of those that are not.
    let prototype = function.as_object().and_then(Object::get_prototype);
    if prototype.is_some_and(|prototype| prototype == Function::prototype(function.ctx().clone())) {
        return Ok(false);
    }
    let tag: Option<String> = function.get::<_, Value<'_>>(PredefinedAtom::SymbolToStringTag)?.get().ok();
    Ok(tag.is_some_and(|tag| tag.starts_with("Async")))
}

/// Throws the error of a name that has the separator of groups in it.
pub(super) fn refuse_separator(ctx: &Ctx<'_>, name: &str) -> Result<()> {
    if name.contains("::") {
        return Err(go_error(ctx, &format!("names of groups and checks must not contain '::', found '{name}'")));
    }
    Ok(())
}
