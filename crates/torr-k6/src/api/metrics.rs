//! `k6/metrics`: Counter, Gauge, Rate, Trend.

use super::builtin::Builtin;
use super::tag_values::{self, TagError};
use crate::host::go_error;
use crate::log::Level;
use crate::metrics::{MetricId, MetricKind};
use crate::user::Vu;
use rquickjs::function::Opt;
use rquickjs::object::Property;
use rquickjs::{Coerced, Ctx, Function, Object, Result, Value};
use std::rc::Rc;

/// The module `k6/metrics`.
pub struct Metrics;

impl Builtin for Metrics {
    const NAMES: &'static [&'static str] = &["k6/metrics"];
    const EXPORTS: &'static [&'static str] = &["Counter", "Gauge", "Rate", "Trend"];

    fn object<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
        let metrics = Object::new(ctx.clone())?;
        for (name, kind) in [
            ("Counter", MetricKind::Counter),
            ("Gauge", MetricKind::Gauge),
            ("Rate", MetricKind::Rate),
            ("Trend", MetricKind::Trend),
        ] {
            let construct = move |ctx: Ctx<'js>, name: Opt<Value<'js>>, is_time: Opt<Value<'js>>| {
                new_metric(&ctx, kind, name.0, is_time.0)
            };
            metrics.set(name, Function::new(ctx.clone(), construct)?.with_name(name)?.with_constructor(true))?;
        }
        Ok(metrics)
    }
}

fn new_metric<'js>(
    ctx: &Ctx<'js>,
    kind: MetricKind,
    name: Option<Value<'js>>,
    is_time: Option<Value<'js>>,
) -> Result<Object<'js>> {
    let vu = Vu::of(ctx);
    if !vu.is_init() {
        return Err(go_error(ctx, "metrics must be created in the init context"));
    }
    let name: Rc<str> = match name.filter(|name| !name.is_undefined()) {
        Some(name) => name.get::<Coerced<String>>()?.0.into(),
        None => "".into(),
    };
    let is_time = is_time.map(|value| value.get::<Coerced<bool>>()).transpose()?.is_some_and(|is_time| is_time.0);
    let id = vu.run.registry.register(&name, kind, is_time).map_err(|message| go_error(ctx, &message))?;
    let metric = Object::new(ctx.clone())?;
    metric.prop("name", Property::from(&*name).enumerable())?;
    let add = move |ctx: Ctx<'js>, value: Opt<Value<'js>>, tags: Opt<Value<'js>>| add(&ctx, id, &name, value.0, tags.0);
    metric.set("add", Function::new(ctx.clone(), add)?.with_name("add")?)?;
    Ok(metric)
}

/// Records a value. Returns whether it is a number.
fn add<'js>(
    ctx: &Ctx<'js>,
    id: MetricId,
    name: &str,
    value: Option<Value<'js>>,
    tags: Option<Value<'js>>,
) -> Result<bool> {
    let vu = Vu::of(ctx);
    if vu.is_init() {
        return Err(go_error(ctx, "values cannot be added to metrics in the init context"));
    }
    let Some(value) = value.filter(|value| !value.is_undefined()) else {
        return invalid(ctx, &vu, &format!("no value for metric '{name}': expected a number or a boolean"));
    };
    let number = if value.is_null() { f64::NAN } else { number(&value)? };
    if number.is_nan() {
        let shown = value.get::<Coerced<String>>().map(|text| text.0).unwrap_or_default();
        let why = format!("invalid value '{shown}' for metric '{name}': expected a number or a boolean");
        return invalid(ctx, &vu, &why);
    }
    let tags = tag_values::read(tags.as_ref()).map_err(|error| match error {
        TagError::Thrown(error) => error,
        TagError::WrongType(tag) => {
            let why = tag_values::wrong_type("metric tag", &tag);
            go_error(ctx, &format!("cannot add tags to metric '{name}': {why}"))
        }
    })?;
    let mut current = vu.tags.borrow_mut();
    let mut recorder = vu.recorder.borrow_mut();
    let base = current.set(&mut recorder);
    let tags: Vec<_> = tags.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let tags = recorder.tag_set(&base, &tags);
    recorder.add(id, number, &tags);
    Ok(true)
}

/// Returns a value as a number, NaN if it is none.
fn number(value: &Value<'_>) -> Result<f64> {
    if let Some(number) = value.as_number() {
        return Ok(number);
    }
    if value.is_symbol() || value.is_big_int() {
        return Ok(f64::NAN);
    }
    value.get::<Coerced<f64>>().map(|number| number.0)
}

/// Warns of a value that is no number, or throws if the options say so.
fn invalid(ctx: &Ctx<'_>, vu: &Vu, why: &str) -> Result<bool> {
    let throws = vu.run.options.get().and_then(|options| options.options.throw).unwrap_or(false);
    if throws {
        return Err(go_error(ctx, why));
    }
    vu.run.log.write(Level::Warning, why, &[]);
    Ok(false)
}
