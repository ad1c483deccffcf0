//! `k6/timers` and the timers among the globals.

use super::builtin::Builtin;
use rquickjs::{Ctx, Object, Result};

/// The module `k6/timers`.
pub struct Timers;

impl Builtin for Timers {
    const NAMES: &'static [&'static str] = &["k6/timers", "k6/experimental/timers"];
    const EXPORTS: &'static [&'static str] = &[];

    fn object<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
        Object::new(ctx.clone())
    }
}
