//! `exec.instance`: the process that runs the test.

use super::property::property;
use crate::executors::Counts;
use crate::host::go_error;
use crate::user::Vu;
use rquickjs::{Ctx, Object, Result};

/// Returns `exec.instance`.
pub(super) fn object<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let instance = Object::new(ctx.clone())?;
    property(&instance, "currentTestRunDuration", |ctx| {
        let vu = outside_of_init(&ctx)?;
        Ok(vu.run.started.get().map_or(0.0, |started| started.elapsed().as_secs_f64() * 1_000.0))
    })?;
    property(&instance, "iterationsCompleted", |ctx| Ok(counts(&ctx)?.complete as f64))?;
    property(&instance, "iterationsInterrupted", |ctx| Ok(counts(&ctx)?.interrupted as f64))?;
    property(&instance, "vusActive", |ctx| Ok(counts(&ctx)?.active as f64))?;
    property(&instance, "vusInitialized", |ctx| Ok(counts(&ctx)?.initialized as f64))?;
    Ok(instance)
}

fn counts(ctx: &Ctx<'_>) -> Result<Counts> {
    let vu = outside_of_init(ctx)?;
    Ok(vu.run.conductor.get().map(|conductor| conductor.counts()).unwrap_or_default())
}

fn outside_of_init(ctx: &Ctx<'_>) -> Result<std::rc::Rc<Vu>> {
    let vu = Vu::of(ctx);
    if vu.is_init() {
        return Err(go_error(ctx, "exec.instance is not available in the init context"));
    }
    Ok(vu)
}
