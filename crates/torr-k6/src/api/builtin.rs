//! Built-in modules: named, default and namespace imports of one module share its state.

use crate::error::NATIVE;
use rquickjs::context::EvalOptions;
use rquickjs::{Ctx, Function, Object, Result};

/// A built-in module.
pub trait Builtin {
    /// The names that scripts import it by, the present one first.
    const NAMES: &'static [&'static str];
    /// The named exports. The object itself is the default export.
    const EXPORTS: &'static [&'static str];

    /// Returns a new object that has all exports as properties. Called once for each virtual user that imports the module.
    ///
    /// # Errors
    /// If the script engine has no memory left.
    fn object<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>>;
}

/// Returns what a function of ours in JavaScript makes of the host's part. Stacks have its frames as native ones.
///
/// # Errors
/// If the script engine has no memory left.
pub(super) fn of_source<'js>(ctx: &Ctx<'js>, source: &str, host: Object<'js>) -> Result<Object<'js>> {
    let mut options = EvalOptions::default();
    options.filename = Some(NATIVE.to_owned());
    ctx.eval_with_options::<Function<'js>, _>(source, options)?.call((host,))
}
