//! `k6/timers` and the timers among the globals.

use super::builtin::Builtin;
use crate::user::Vu;
use rquickjs::function::{Opt, Rest};
use rquickjs::{Ctx, Function, Object, Result, Value};
use std::time::Duration;

/// The longest time of a timer in milliseconds; a longer one is cut to this.
const LONGEST: f64 = 1e12;

/// The module `k6/timers`.
pub struct Timers;

impl Builtin for Timers {
    const NAMES: &'static [&'static str] = &["k6/timers", "k6/experimental/timers"];
    const EXPORTS: &'static [&'static str] = &["setTimeout", "clearTimeout", "setInterval", "clearInterval"];

    fn object<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
        let object = Object::new(ctx.clone())?;
        let globals = ctx.globals();
        for name in Self::EXPORTS {
            object.set(*name, globals.get::<_, Value<'js>>(*name)?)?;
        }
        Ok(object)
    }
}

/// Makes the timers among the globals.
///
/// # Errors
/// If the script engine has no memory left.
pub fn install(ctx: &Ctx<'_>) -> Result<()> {
    let globals = ctx.globals();
    globals.set("setTimeout", Function::new(ctx.clone(), set_timeout)?.with_name("setTimeout")?)?;
    globals.set("setInterval", Function::new(ctx.clone(), set_interval)?.with_name("setInterval")?)?;
    globals.set("clearTimeout", Function::new(ctx.clone(), clear)?.with_name("clearTimeout")?)?;
    globals.set("clearInterval", Function::new(ctx.clone(), clear)?.with_name("clearInterval")?)
}

fn set_timeout<'js>(ctx: Ctx<'js>, call: Function<'js>, after: Opt<f64>, with: Rest<Value<'js>>) -> u64 {
    Vu::of(&ctx).events.add_timer(&ctx, call, time(after.0.unwrap_or(0.0)), false, with.0)
}

fn set_interval<'js>(ctx: Ctx<'js>, call: Function<'js>, after: Opt<f64>, with: Rest<Value<'js>>) -> u64 {
    Vu::of(&ctx).events.add_timer(&ctx, call, time(after.0.unwrap_or(0.0)), true, with.0)
}

fn clear(ctx: Ctx<'_>, id: Opt<Value<'_>>) {
    if let Some(id) = id.0.and_then(|id| id.as_number()).filter(|id| *id >= 0.0) {
        Vu::of(&ctx).events.remove_timer(id as u64);
    }
}

/// Returns the time of a number of milliseconds; what is less than 0 or no number is 0.
pub(super) fn time(milliseconds: f64) -> Duration {
    let milliseconds = milliseconds.clamp(0.0, LONGEST);
    Duration::from_secs_f64(if milliseconds.is_nan() { 0.0 } else { milliseconds } / 1000.0)
}
