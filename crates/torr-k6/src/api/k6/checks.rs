//! `check`: predicates on a value, each a sample of the metric `checks`.

use super::super::tag_values::{self, TagError};
use super::refuse::{is_async, refuse_separator};
use crate::host::go_error;
use crate::options::SystemTag;
use crate::user::Vu;
use rquickjs::function::Opt;
use rquickjs::{Coerced, Ctx, Exception, Result, Value};

/// Runs the predicates in order, and returns whether all hold.
pub(super) fn check<'js>(
    ctx: Ctx<'js>,
    value: Value<'js>,
    predicates: Opt<Value<'js>>,
    tags: Opt<Value<'js>>,
) -> Result<bool> {
    let vu = Vu::of(&ctx);
    if vu.is_init() {
        return Err(go_error(&ctx, "check() is not supported in the init context"));
    }
    let Some(predicates) = predicates.0.filter(|predicates| !predicates.is_undefined()) else {
        return Err(go_error(&ctx, "check() needs an object with checks as its second argument"));
    };
    if predicates.is_null() {
        return Err(Exception::throw_type(&ctx, "check() needs an object with checks, found null"));
    }
    let tags = tag_values::read(tags.0.as_ref()).map_err(|error| match error {
        TagError::Thrown(error) => error,
        TagError::WrongType(name) => go_error(&ctx, &tag_values::wrong_type("metric tag", &name)),
    })?;
    let Some(predicates) = predicates.as_object() else { return Ok(true) };
    let mut all_hold = true;
    for property in predicates.props::<String, Value<'js>>() {
        let (name, predicate) = property?;
        refuse_separator(&ctx, &name)?;
        let outcome = match predicate.as_function() {
            Some(function) if is_async(function)? => {
                let why = "check() does not support async functions: await the value before check() instead";
                return Err(go_error(&ctx, why));
            }
            Some(function) => function.call::<_, Value<'js>>((value.clone(),)),
            None => Ok(predicate),
        };
        let outcome = outcome.and_then(|outcome| outcome.get::<Coerced<bool>>()).map(|holds| holds.0);
        if outcome.is_err() && vu.interrupts.is_set() {
            return outcome;
        }
        record(&vu, &name, *outcome.as_ref().unwrap_or(&false), &tags);
        all_hold &= outcome?;
    }
    Ok(all_hold)
}

fn record(vu: &Vu, name: &str, holds: bool, tags: &[(String, String)]) {
    let mut current = vu.tags.borrow_mut();
    let mut recorder = vu.recorder.borrow_mut();
    let base = current.set(&mut recorder);
    let is_tagged = current.system().has(SystemTag::Check);
    if tags.is_empty() {
        return recorder.check(name, holds, &base, current.group(), is_tagged);
    }
    let own = is_tagged.then_some((SystemTag::Check.name(), name));
    let given = tags.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let tags = recorder.tag_set(&base, &given.chain(own).collect::<Vec<_>>());
    recorder.check(name, holds, &tags, current.group(), false);
}
