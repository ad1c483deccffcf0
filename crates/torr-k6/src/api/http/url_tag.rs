//! URLs with a name of their own, which the template tag `http.url` makes.

use crate::host::{Host, HostClass};
use rquickjs::function::This;
use rquickjs::object::Accessor;
use rquickjs::{Class, Ctx, Object, Result};

/// A URL with its name.
#[derive(Debug)]
pub struct UrlWithName {
    /// The URL.
    pub url: String,
    /// The value of the tag `name`.
    pub name: String,
}

impl HostClass for UrlWithName {
    const NAME: &'static str = "URL";

    fn prototype<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
        type Url<'js> = This<Class<'js, Host<UrlWithName>>>;
        let prototype = Object::new(ctx.clone())?;
        prototype.prop("url", Accessor::new_get(|this: Url<'js>| this.borrow().url.clone()).enumerable())?;
        prototype.prop("name", Accessor::new_get(|this: Url<'js>| this.borrow().name.clone()).enumerable())?;
        let text = rquickjs::Function::new(ctx.clone(), |this: Url<'js>| this.borrow().url.clone())?;
        prototype.prop("toString", text)?;
        Ok(prototype)
    }
}
