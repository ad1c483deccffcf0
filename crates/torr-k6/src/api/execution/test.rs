//! `exec.test`: the whole test: its options, and how to stop it.

use super::property::property;
use crate::control::{ABORTED, StopCause};
use crate::host::{Held, go_error};
use crate::log::Level;
use crate::user::Vu;
use crate::user::interrupt;
use rquickjs::function::Opt;
use rquickjs::{Coerced, Ctx, Function, Object, Result, Value};

/// Tag of the object that keeps the options of a virtual user.
struct Options;

/// Returns `exec.test`.
pub(super) fn object<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let test = Object::new(ctx.clone())?;
    test.set("abort", Function::new(ctx.clone(), abort)?.with_name("abort")?)?;
    test.set("fail", Function::new(ctx.clone(), fail)?.with_name("fail")?)?;
    property(&test, "options", options)?;
    Ok(test)
}

/// Stops the whole test. The script does not go on.
fn abort<'js>(ctx: Ctx<'js>, reason: Opt<Value<'js>>) -> Result<()> {
    let vu = Vu::of(&ctx);
    vu.run.control.stop(StopCause::Aborted(text(reason)?.unwrap_or_else(|| ABORTED.to_owned())));
    vu.interrupts.set();
    Err(interrupt::throw(&ctx))
}

/// Marks the test as failed, and goes on.
fn fail<'js>(ctx: Ctx<'js>, reason: Opt<Value<'js>>) -> Result<()> {
    let reason = text(reason)?;
    let vu = Vu::of(&ctx);
    let because = reason.as_ref().map_or(String::new(), |reason| format!(": {reason}"));
    vu.run.log.write(Level::Error, &format!("test marked as failed{because}"), &[]);
    vu.run.control.fail(reason.unwrap_or_else(|| "test failed".to_owned()));
    Ok(())
}

/// Returns a reason as text, if there is one.
fn text(reason: Opt<Value<'_>>) -> Result<Option<String>> {
    let reason = reason.0.filter(|reason| !reason.is_undefined());
    reason.map(|reason| reason.get::<Coerced<String>>().map(|text| text.0)).transpose()
}

/// Returns the options of the run, frozen, the same object each time.
fn options<'js>(ctx: Ctx<'js>) -> Result<Value<'js>> {
    let vu = Vu::of(&ctx);
    let Some(options) = vu.run.options.get().filter(|_| !vu.is_init()) else {
        return Err(go_error(&ctx, "exec.test.options is not available in the init context"));
    };
    let held = Held::<'js, Options>::of(&ctx)?;
    if let Some(known) = held.get::<_, Option<Value<'js>>>("options")? {
        return Ok(known);
    }
    let options = ctx.json_parse(options.shown().to_string())?;
    freeze(&ctx, &options)?;
    held.set("options", options.clone())?;
    Ok(options)
}

/// Freezes a value with all values in it.
fn freeze<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> Result<()> {
    let Some(object) = value.as_object() else { return Ok(()) };
    for property in object.props::<String, Value<'js>>() {
        freeze(ctx, &property?.1)?;
    }
    let freeze: Function<'js> = ctx.globals().get::<_, Object<'js>>("Object")?.get("freeze")?;
    freeze.call::<_, Value<'js>>((object.clone(),)).map(drop)
}
