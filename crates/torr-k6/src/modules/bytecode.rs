//! Modules compiled once: the first runtime compiles, all others load what it compiled.

use rquickjs::module::{Declared, WriteOptions};
use rquickjs::{Ctx, Module, Result};

use super::unit::Unit;

/// Declares a unit that is an ECMAScript module, whose source is `code`.
pub(super) fn declare<'js>(ctx: &Ctx<'js>, unit: &Unit, code: &str) -> Result<Module<'js, Declared>> {
    if let Some(bytecode) = unit.bytecode.get() {
        // SAFETY: these bytes were written by `Module::write` below, by the QuickJS of this process, and never changed.
        return unsafe { Module::load(ctx.clone(), bytecode) };
    }
    let module = Module::declare(ctx.clone(), unit.name.as_str(), code)?;
    let options = WriteOptions { strip_source: true, ..WriteOptions::default() };
    // Another runtime may have compiled the same unit meanwhile: its bytes are as good.
    let _ = unit.bytecode.set(module.write(options)?);
    Ok(module)
}
