//! The objects of built-in modules in one runtime: named, default and namespace imports of a module share one object.

use super::builtin::Builtin;
use rquickjs::module::{Declarations, Exports, ModuleDef};
use rquickjs::{Ctx, JsLifetime, Object, Result};
use std::cell::RefCell;
use std::marker::PhantomData;

/// The objects of the built-in modules that a virtual user has imported so far.
#[derive(JsLifetime)]
struct Loaded<'js> {
    names: RefCell<Vec<&'static str>>,
    objects: RefCell<Vec<Object<'js>>>,
}

/// Returns the object of a built-in module, the same one each time in a context.
pub(super) fn object<'js, B: Builtin>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let name = B::NAMES[0];
    if ctx.userdata::<Loaded<'js>>().is_none() {
        let none = Loaded { names: RefCell::new(Vec::new()), objects: RefCell::new(Vec::new()) };
        let _ = ctx.store_userdata(none);
    }
    if let Some(loaded) = ctx.userdata::<Loaded<'js>>()
        && let Some(at) = loaded.names.borrow().iter().position(|other| *other == name)
    {
        return Ok(loaded.objects.borrow()[at].clone());
    }
    let object = B::object(ctx)?;
    if let Some(loaded) = ctx.userdata::<Loaded<'js>>() {
        loaded.names.borrow_mut().push(name);
        loaded.objects.borrow_mut().push(object.clone());
    }
    Ok(object)
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
        let object = object::<B>(ctx)?;
        for name in B::EXPORTS {
            exports.export(*name, object.get::<_, rquickjs::Value<'js>>(*name)?)?;
        }
        exports.export("default", object)?;
        Ok(())
    }
}
