//! The plan of a load whose requests go to URLs.

use crate::error::PlanError;
use crate::{checks, request, transport};
use std::time::Duration;
use torr_gauge::machine::cpus;
use torr_load::Load;
use torr_press::Plan;
use torr_press::request::Options;

/// The default duration of a run.
const DURATION: Duration = Duration::from_secs(10);

/// Returns the plan of a load of a URL, or of a list of URLs.
///
/// # Errors
/// For a mistake of the load, and if there is no way to the service.
pub fn plan(load: &Load, url: Option<&str>) -> Result<Plan, PlanError> {
    with_load(load, base(load, url)?)
}

/// Adds the pace of a load, and what the load expects of responses, to a plan.
///
/// # Errors
/// For an invalid expectation, and for too many of them.
pub fn with_load(load: &Load, base: Plan) -> Result<Plan, PlanError> {
    let pace = &load.pace;
    let inspection = checks::inspection(&load.checks)?;
    let endless = pace.requests.is_none() && pace.stages.is_none();
    Ok(Plan {
        inspection,
        pace: pace.pace(),
        connections: pace.connections(),
        depth: pace.pipeline.as_deref().copied().unwrap_or(base.depth),
        threads: pace.threads.as_deref().copied().unwrap_or(base.threads),
        duration: pace.duration.as_deref().copied().or(endless.then_some(DURATION)),
        requests: pace.requests.as_deref().copied(),
        warmup: pace.warmup.as_deref().copied().unwrap_or_default(),
        think: pace.think.as_deref().cloned(),
        requests_per_connection: pace.requests_per_connection.as_deref().copied(),
        timeout: pace.timeout(),
        coalesce: pace.coalesce.as_deref().copied().unwrap_or(base.coalesce),
        timestamps: pace.timestamps.as_deref().copied().unwrap_or(base.timestamps),
        quick_ack: pace.quick_ack,
        ..base
    })
}

/// Returns the plan of the requests and of the way to the service, without the pace of the load. It has a thread for each CPU.
///
/// # Errors
/// As [`plan`].
pub fn base(load: &Load, url: Option<&str>) -> Result<Plan, PlanError> {
    base_and_options(load, url).map(|(plan, _)| plan)
}

/// Returns the plan of [`base`], and the options that its requests were made of.
///
/// # Errors
/// As [`plan`].
pub fn base_and_options(load: &Load, url: Option<&str>) -> Result<(Plan, Options), PlanError> {
    let (target, request, options) = request::requests(load, url)?;
    let route = transport::route(&load.transport, &target)?;
    let plan = Plan {
        sources: route.sources,
        tunnel: route.tunnel,
        protocol: route.protocol,
        depth: load.transport.http2.streams.as_deref().copied().unwrap_or(1),
        threads: cpus(),
        keep_alive: load.keep_alive(),
        ..Plan::new(target, route.addresses, request)
    };
    Ok((plan, options))
}
