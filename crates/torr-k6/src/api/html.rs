//! The module `k6/html`: documents read as browsers do, searched by CSS selectors.

mod arguments;
mod data;
mod document;
mod element;
mod form;
mod matcher;
mod node;
mod properties;
mod selection;
mod selector;
mod set;
mod walk;
mod write;

use rquickjs::prelude::{Func, Opt};
use rquickjs::{Coerced, Ctx, Object, Result, Value};

use super::builtin::Builtin;
use url::Url;

/// The module `k6/html`.
pub struct Html;

impl Builtin for Html {
    const NAMES: &'static [&'static str] = &["k6/html"];
    const EXPORTS: &'static [&'static str] = &["parseHTML"];

    fn object<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
        let object = Object::new(ctx.clone())?;
        object.set("parseHTML", Func::from(parse_html))?;
        Ok(object)
    }
}

/// Returns the selection of the whole document that `text` is, and whose address is `page` if it is known.
pub fn parse<'js>(ctx: &Ctx<'js>, text: &str, page: Option<Url>) -> Result<Object<'js>> {
    selection::of_document(ctx, text, page)
}

fn parse_html<'js>(ctx: Ctx<'js>, text: Opt<Value<'js>>) -> Result<Object<'js>> {
    let text = match text.0 {
        Some(value) if !value.is_null() && !value.is_undefined() => value.get::<Coerced<String>>()?.0,
        _ => String::new(),
    };
    parse(&ctx, &text, None)
}
