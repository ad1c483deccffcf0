//! `exec.vu`: the virtual user, its counters, its tags.

use super::property::property;
use super::tag_map::{self, Shown};
use crate::host::{Held, go_error};
use crate::user::Vu;
use rquickjs::{Ctx, Object, Result, Value};
use std::rc::Rc;

/// Tag of the object that keeps the objects for tags and metadata.
struct Maps;

/// Returns `exec.vu`.
pub(super) fn object<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let vu = Object::new(ctx.clone())?;
    for name in ["idInInstance", "idInTest"] {
        property(&vu, name, |ctx| Ok(outside_of_init(&ctx)?.id as f64))?;
    }
    property(&vu, "iterationInInstance", |ctx| {
        Ok(outside_of_init(&ctx)?.iteration.borrow().in_instance.unwrap_or_default() as f64)
    })?;
    property(&vu, "iterationInScenario", |ctx| Ok(outside_of_init(&ctx)?.iteration.borrow().in_scenario as f64))?;
    property(&vu, "tags", |ctx| map(&ctx, "tags", Shown::Tags))?;
    let metrics = Object::new(ctx.clone())?;
    property(&metrics, "tags", |ctx| map(&ctx, "tags", Shown::Tags))?;
    property(&metrics, "metadata", |ctx| map(&ctx, "metadata", Shown::Metadata))?;
    property(&vu, "metrics", move |ctx| {
        outside_of_init(&ctx)?;
        Held::<Maps>::of(&ctx)?.get::<_, Value<'_>>("metrics")
    })?;
    Held::<Maps>::of(ctx)?.set("metrics", metrics)?;
    Ok(vu)
}

/// Returns the object for tags or metadata, the same one each time.
fn map<'js>(ctx: &Ctx<'js>, name: &'static str, shown: Shown) -> Result<Value<'js>> {
    outside_of_init(ctx)?;
    let maps = Held::<'js, Maps>::of(ctx)?;
    if let Some(known) = maps.get::<_, Option<Value<'js>>>(name)? {
        return Ok(known);
    }
    let made = tag_map::object(ctx, shown)?;
    maps.set(name, made.clone())?;
    Ok(made)
}

fn outside_of_init(ctx: &Ctx<'_>) -> Result<Rc<Vu>> {
    let vu = Vu::of(ctx);
    if vu.is_init() {
        return Err(go_error(ctx, "exec.vu is not available in the init context"));
    }
    Ok(vu)
}
