//! Built-in modules: named, default and namespace imports of one module share its state.

use rquickjs::{Ctx, Object, Result};

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
