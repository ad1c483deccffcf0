//! Response callbacks: which statuses are expected.

use super::value::is_nothing;
use crate::host::{Host, HostClass, go_error};
use crate::user::{Expectation, Vu};
use rquickjs::function::Rest;
use rquickjs::{Class, Ctx, Object, Result, Value};
use std::cell::RefCell;
use std::rc::Rc;

/// Returns the expectation that a script gives; `None` if it is neither `null` nor what `expectedStatuses` returns.
pub fn given(value: &Value<'_>) -> Option<Expectation> {
    if is_nothing(value) {
        return Some(Expectation::Unknown);
    }
    let statuses = Class::<Host<ExpectedStatuses>>::from_value(value).ok()?;
    Some(Expectation::Within(statuses.borrow().0.0.clone()))
}

/// What `expectedStatuses` returns.
pub struct ExpectedStatuses(Rc<[(u16, u16)]>);

impl HostClass for ExpectedStatuses {
    const NAME: &'static str = "ExpectedStatuses";

    fn prototype<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
        Object::new(ctx.clone())
    }
}

/// The function `http.expectedStatuses`.
pub fn expected_statuses<'js>(ctx: Ctx<'js>, statuses: Rest<Value<'js>>) -> Result<Class<'js, Host<ExpectedStatuses>>> {
    if statuses.0.is_empty() {
        return Err(go_error(&ctx, "no arguments"));
    }
    let bad = |at: usize| {
        let why = format!(
            "argument number {} to expectedStatuses was neither an integer nor an object like {{min:100, max:329}}",
            at + 1
        );
        go_error(&ctx, &why)
    };
    let mut ranges = Vec::new();
    for (at, value) in statuses.0.iter().enumerate() {
        let range = match (value.as_number(), value.as_object()) {
            (Some(status), _) => status_of(status).map(|status| (status, status)),
            (None, Some(range)) => bounds(range),
            _ => None,
        };
        ranges.push(range.ok_or_else(|| bad(at))?);
    }
    Class::instance(ctx, Host(ExpectedStatuses(ranges.into())))
}

fn bounds(range: &Object<'_>) -> Option<(u16, u16)> {
    let bound = |name: &str| range.get::<_, f64>(name).ok().and_then(status_of);
    Some((bound("min")?, bound("max")?))
}

fn status_of(number: f64) -> Option<u16> {
    (number.fract() == 0.0 && (0.0..=999.0).contains(&number)).then_some(number as u16)
}

/// The function `http.setResponseCallback`.
pub fn set_response_callback<'js>(ctx: Ctx<'js>, callback: Value<'js>) -> Result<()> {
    let Some(expectation) = given(&callback) else {
        return Err(go_error(&ctx, "unsupported argument, expected http.expectedStatuses"));
    };
    *Vu::of(&ctx).extra::<RefCell<Expectation>>().borrow_mut() = expectation;
    Ok(())
}
