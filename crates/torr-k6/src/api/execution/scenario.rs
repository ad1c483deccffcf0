//! `exec.scenario`: the scenario of the running iteration.

use super::property::property;
use crate::executors::Conductor;
use crate::host::go_error;
use crate::metrics::IterationInfo;
use crate::options::Scenario;
use crate::user::{Phase, Vu};
use rquickjs::{Ctx, Object, Result};
use std::time::UNIX_EPOCH;

/// Returns `exec.scenario`.
pub(super) fn object<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let scenario = Object::new(ctx.clone())?;
    property(&scenario, "name", |ctx| of(&ctx, |scenario, _, _| scenario.name.clone()))?;
    property(&scenario, "executor", |ctx| of(&ctx, |scenario, _, _| scenario.executor.name()))?;
    property(&scenario, "startTime", |ctx| {
        of(&ctx, |scenario, _, conductor| {
            let begun = conductor.started_at().map(|at| at + scenario.start_time);
            let since = begun.and_then(|at| at.duration_since(UNIX_EPOCH).ok());
            since.map_or(0.0, |since| since.as_millis() as f64)
        })
    })?;
    property(&scenario, "progress", |ctx| {
        of(&ctx, |_, info, conductor| {
            info.scenario.map_or(0.0, |number| conductor.progress(number, conductor.now()).share)
        })
    })?;
    for name in ["iterationInInstance", "iterationInTest"] {
        property(&scenario, name, |ctx| of(&ctx, |_, info, _| info.in_test as f64))?;
    }
    Ok(scenario)
}

/// Returns something of the scenario that the virtual user runs.
fn of<T>(ctx: &Ctx<'_>, get: impl FnOnce(&Scenario, &IterationInfo, &Conductor) -> T) -> Result<T> {
    let vu = Vu::of(ctx);
    let info = vu.iteration.borrow();
    let is_iteration = vu.phase.get() == Phase::Iteration;
    match (vu.run.conductor.get(), info.scenario.filter(|_| is_iteration)) {
        (Some(conductor), Some(number)) => Ok(get(&conductor.plan().scenarios[number], &info, conductor)),
        _ => Err(go_error(ctx, "exec.scenario is available in iterations only")),
    }
}
