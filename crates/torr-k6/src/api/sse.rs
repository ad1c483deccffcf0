//! `k6/x/sse`: an event stream whose events a script handles while it waits for the end, as the extension of this name has it.

mod client;
mod open;
mod records;
mod request;

use super::builtin::Builtin;
use rquickjs::{Ctx, Function, Object, Result};

/// The module `k6/x/sse`.
pub struct Sse;

impl Builtin for Sse {
    const NAMES: &'static [&'static str] = &["k6/x/sse"];
    const EXPORTS: &'static [&'static str] = &["open"];

    fn object<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
        records::register(ctx)?;
        let sse = Object::new(ctx.clone())?;
        sse.set("open", Function::new(ctx.clone(), open::open)?.with_name("open")?)?;
        Ok(sse)
    }
}
