//! `k6/execution`: what a script can know of its run.

mod instance;
mod property;
mod scenario;
mod tag_map;
mod test;
mod vu;

use super::builtin::Builtin;
use rquickjs::{Ctx, Object, Result};

/// The module `k6/execution`.
pub struct Execution;

impl Builtin for Execution {
    const NAMES: &'static [&'static str] = &["k6/execution"];
    const EXPORTS: &'static [&'static str] = &["instance", "scenario", "test", "vu"];

    fn object<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
        let execution = Object::new(ctx.clone())?;
        execution.set("instance", instance::object(ctx)?)?;
        execution.set("scenario", scenario::object(ctx)?)?;
        execution.set("test", test::object(ctx)?)?;
        execution.set("vu", vu::object(ctx)?)?;
        Ok(execution)
    }
}
