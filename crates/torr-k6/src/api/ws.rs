//! `k6/ws`: a WebSocket whose events a script handles while it waits for the end.

pub(crate) mod handshake;
pub(crate) mod records;
pub(crate) mod response;
mod session;
pub(crate) mod socket;

use super::builtin::Builtin;
use rquickjs::{Ctx, Function, Object, Result};

/// The module `k6/ws`.
pub struct Ws;

impl Builtin for Ws {
    const NAMES: &'static [&'static str] = &["k6/ws"];
    const EXPORTS: &'static [&'static str] = &["connect"];

    fn object<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
        let ws = Object::new(ctx.clone())?;
        ws.set("connect", Function::new(ctx.clone(), session::connect)?.with_name("connect")?)?;
        Ok(ws)
    }
}
