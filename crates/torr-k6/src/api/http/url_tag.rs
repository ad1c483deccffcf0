//! URLs with a name of their own, which the template tag `http.url` makes.

use rquickjs::class::{JsClass, Readable, Trace, Tracer};
use rquickjs::function::{Constructor, This};
use rquickjs::object::Accessor;
use rquickjs::{Class, Ctx, JsLifetime, Object, Result};

/// A URL with its name.
#[derive(Debug)]
pub struct UrlWithName {
    /// The URL.
    pub url: String,
    /// The value of the tag `name`.
    pub name: String,
}

impl<'js> Trace<'js> for UrlWithName {
    fn trace<'a>(&self, _tracer: Tracer<'a, 'js>) {}
}

// SAFETY: the type has no lifetime of the script engine in it.
unsafe impl<'js> JsLifetime<'js> for UrlWithName {
    type Changed<'to> = UrlWithName;
}

impl<'js> JsClass<'js> for UrlWithName {
    const NAME: &'static str = "URL";
    type Mutable = Readable;

    fn prototype(ctx: &Ctx<'js>) -> Result<Option<Object<'js>>> {
        type Url<'js> = This<Class<'js, UrlWithName>>;
        let prototype = Object::new(ctx.clone())?;
        prototype.prop("url", Accessor::new_get(|this: Url<'js>| this.borrow().url.clone()).enumerable())?;
        prototype.prop("name", Accessor::new_get(|this: Url<'js>| this.borrow().name.clone()).enumerable())?;
        let text = rquickjs::Function::new(ctx.clone(), |this: Url<'js>| this.borrow().url.clone())?;
        prototype.prop("toString", text)?;
        Ok(Some(prototype))
    }

    fn constructor(_ctx: &Ctx<'js>) -> Result<Option<Constructor<'js>>> {
        Ok(None)
    }
}
