//! `k6/execution`: what a script can know of its run.

mod instance;
mod scenario;
mod tag_map;
mod test;
mod vu;

use super::builtin::Builtin;
use rquickjs::object::Accessor;
use rquickjs::{Ctx, IntoJs, Object, Result};

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

/// Defines a property whose value is asked for at each read.
fn property<'js, V, F>(object: &Object<'js>, name: &str, get: F) -> Result<()>
where
    V: IntoJs<'js> + 'js,
    F: Fn(Ctx<'js>) -> Result<V> + 'js,
{
    object.prop(name, Accessor::new_get(get).enumerable())
}
