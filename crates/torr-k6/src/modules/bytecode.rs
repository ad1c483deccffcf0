//! Code compiled once: the first runtime compiles, all others load what it compiled.

use rquickjs::module::Declared;
use rquickjs::{Ctx, Error, Function, Module, Result, Value, qjs};

use super::compile::{write_function, write_module};
use super::unit::Unit;

/// Declares a unit that is an ECMAScript module, whose source is `code`.
pub(super) fn declare<'js>(ctx: &Ctx<'js>, unit: &Unit, code: &str) -> Result<Module<'js, Declared>> {
    if let Some(bytecode) = unit.bytecode.get() {
        // SAFETY: these bytes were written by `write_module`, by the QuickJS of this process, and never changed.
        return unsafe { Module::load(ctx.clone(), bytecode) };
    }
    let module = Module::declare(ctx.clone(), unit.name.as_str(), code)?;
    // Another runtime may have compiled the same unit meanwhile: its bytes are as good.
    let _ = unit.bytecode.set(write_module(&module)?);
    Ok(module)
}

/// Returns the function of a CommonJS unit.
pub(super) fn function<'js>(ctx: &Ctx<'js>, unit: &Unit) -> Result<Function<'js>> {
    let bytecode = match unit.function.get() {
        Some(bytecode) => bytecode,
        None => {
            let written = write_function(ctx, &unit.name, &unit.code)?;
            unit.function.get_or_init(|| written)
        }
    };
    let raw = ctx.as_raw().as_ptr();
    // SAFETY: these bytes were written by `write_function`, by the QuickJS of this process, and never changed. `raw` is the
    // live context of `ctx`; `JS_EvalFunction` takes the value over, and the value that it returns is owned here.
    let value = unsafe {
        let flags = qjs::JS_READ_OBJ_BYTECODE as _;
        let script = qjs::JS_ReadObject(raw, bytecode.as_ptr(), bytecode.len() as _, flags);
        if qjs::JS_IsException(script) {
            return Err(Error::Exception);
        }
        let value = qjs::JS_EvalFunction(raw, script);
        if qjs::JS_IsException(value) {
            return Err(Error::Exception);
        }
        Value::from_raw(ctx.clone(), value)
    };
    value.into_function().ok_or(Error::Unknown)
}
