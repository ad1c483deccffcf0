//! The built-in modules as the loader sees them: the room `api` has them, which stands above this one.

use rquickjs::module::Declared;
use rquickjs::{Ctx, Module, Object, Result};

/// Functions that find the built-in modules by name.
#[derive(Clone, Copy)]
pub struct Builtins {
    /// Returns whether a module of this name is built in.
    pub has: fn(&str) -> bool,
    /// Declares the built-in module of this name.
    pub declare: for<'js> fn(&Ctx<'js>, &str) -> Option<Result<Module<'js, Declared>>>,
    /// Returns the object of the built-in module of this name.
    pub require: for<'js> fn(&Ctx<'js>, &str) -> Option<Result<Object<'js>>>,
}
