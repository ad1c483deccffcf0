//! Built-in modules: named, default and namespace imports of one module share its state.

use rquickjs::module::{Declarations, Exports, ModuleDef};
use rquickjs::{Ctx, Object, Result};
use std::marker::PhantomData;

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

/// A built-in module as the script engine's module loader takes it.
pub(super) struct NativeModule<B>(PhantomData<B>);

impl<B: Builtin> ModuleDef for NativeModule<B> {
    fn declare(declarations: &Declarations<'_>) -> Result<()> {
        for name in B::EXPORTS {
            declarations.declare(*name)?;
        }
        declarations.declare("default")?;
        Ok(())
    }

    fn evaluate<'js>(ctx: &Ctx<'js>, exports: &Exports<'js>) -> Result<()> {
        let object = super::registry::object::<B>(ctx)?;
        for name in B::EXPORTS {
            exports.export(*name, object.get::<_, rquickjs::Value<'js>>(*name)?)?;
        }
        exports.export("default", object)?;
        Ok(())
    }
}
