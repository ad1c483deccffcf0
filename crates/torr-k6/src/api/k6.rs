//! `k6`: check, group, sleep, fail, randomSeed.

mod checks;
mod groups;
mod refuse;

use super::builtin::Builtin;
use crate::host::go_error;
use crate::user::{Wanted, wait};
use rquickjs::function::Opt;
use rquickjs::{Coerced, Ctx, Function, Object, Result, Value};
use std::cell::RefCell;
use std::time::Duration;

/// The longest sleep in seconds; a longer one is cut to this.
const LONGEST_SLEEP: f64 = 1e9;

/// The module `k6`.
pub struct K6;

impl Builtin for K6 {
    const NAMES: &'static [&'static str] = &["k6"];
    const EXPORTS: &'static [&'static str] = &["check", "fail", "group", "randomSeed", "sleep"];

    fn object<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
        let k6 = Object::new(ctx.clone())?;
        k6.set("check", Function::new(ctx.clone(), checks::check)?.with_name("check")?)?;
        k6.set("fail", Function::new(ctx.clone(), fail)?.with_name("fail")?)?;
        k6.set("group", Function::new(ctx.clone(), groups::group)?.with_name("group")?)?;
        k6.set("randomSeed", Function::new(ctx.clone(), random_seed)?.with_name("randomSeed")?)?;
        k6.set("sleep", Function::new(ctx.clone(), sleep)?.with_name("sleep")?)?;
        Ok(k6)
    }
}

/// Waits for a number of seconds. What is no number, or is less than 0, does not wait.
fn sleep<'js>(ctx: Ctx<'js>, seconds: Opt<Coerced<f64>>) -> Result<()> {
    let seconds = seconds.0.map_or(0.0, |seconds| seconds.0);
    if seconds.is_nan() || seconds <= 0.0 {
        return Ok(());
    }
    wait(&ctx, Wanted::Sleep(Duration::from_secs_f64(seconds.min(LONGEST_SLEEP)))).map(drop)
}

/// Throws an error.
fn fail<'js>(ctx: Ctx<'js>, message: Opt<Value<'js>>) -> Result<()> {
    let message = match message.0.filter(|message| !message.is_undefined()) {
        Some(message) => message.get::<Coerced<String>>()?.0,
        None => String::new(),
    };
    Err(go_error(&ctx, &message))
}

/// Makes the random numbers of this virtual user depend on a seed alone.
fn random_seed<'js>(ctx: Ctx<'js>, seed: Opt<Coerced<f64>>) -> Result<()> {
    let seed = seed.0.map_or(0.0, |seed| seed.0);
    let numbers = RefCell::new(fastrand::Rng::with_seed((seed as i64) as u64));
    let math: Object<'js> = ctx.globals().get("Math")?;
    math.set("random", Function::new(ctx.clone(), move || numbers.borrow_mut().f64())?.with_name("random")?)
}
