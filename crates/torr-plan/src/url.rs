//! The plan of a load whose requests go to URLs.

use crate::error::PlanError;
use crate::permit::{self, Permit};
use crate::{alt_svc, checks, grpc, log, request, transport};
use std::time::Duration;
use torr_load::{Load, TlsPart, TlsResumption, is_grpc};
use torr_press::request::Options;
use torr_press::{EventPlan, Inspection, Plan, Work};

/// The default duration of a run.
const DURATION: Duration = Duration::from_secs(10);

/// Returns the plan of a load of a URL, or of a list of URLs.
///
/// # Errors
/// For a mistake of the load, and if there is no way to the service.
pub fn plan(load: &Load, url: Option<&str>) -> Result<Plan, PlanError> {
    let (base, _) = base_and_options(load, url, &permit::any)?;
    with_load(load, base)
}

/// Refuses early data without sessions, and requests that it must not have, since others may send it again (RFC 8470, section 4).
fn check_early_data(part: &TlsPart, plan: &Plan) -> Result<(), PlanError> {
    if part.resumption() != TlsResumption::On {
        return Err(PlanError::Usage("--tls-earlydata needs --tls-resumption on".into()));
    }
    let Work::Requests(requests) = &plan.work else { return Ok(()) };
    let methods = requests.method();
    let is_safe = |method: &&str| ["GET", "HEAD", "OPTIONS", "TRACE"].contains(method);
    match methods.split(',').find(|method| !is_safe(method)) {
        Some(method) => {
            Err(PlanError::Usage(format!("--tls-earlydata needs safe methods, such as GET, found {method}")))
        }
        None => Ok(()),
    }
}

/// Adds the pace of a load, and what the load expects of responses, to a plan.
///
/// # Errors
/// For an invalid expectation, for too many of them, and for a limit of streams where a method returns one message.
pub fn with_load(load: &Load, base: Plan) -> Result<Plan, PlanError> {
    let pace = &load.pace;
    let inspection = Inspection { digest: request::digest(&load.request)?, ..checks::inspection(&load.checks)? };
    let base = with_streams(load, base)?;
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
        patience: pace.patience.as_deref().copied(),
        timestamps: pace.timestamps.as_deref().copied().unwrap_or(base.timestamps),
        quick_ack: pace.quick_ack,
        ..base
    })
}

/// Adds to a plan what the load awaits of responses that are streams.
///
/// # Errors
/// For a limit of streams where a method returns one message.
pub fn with_streams(load: &Load, base: Plan) -> Result<Plan, PlanError> {
    let events = events(load, &base)?;
    // A connection of a WebSocket is a stream.
    Ok(Plan { events, keep_alive: base.keep_alive && !load.stream.listen, ..base })
}

/// Returns what is awaited of responses that are streams, if they are. Whether a call's is one stands in the description of its method.
fn events(load: &Load, base: &Plan) -> Result<Option<EventPlan>, PlanError> {
    match (base.protocol.grpc, load.stream.given()) {
        // Among the responses of sessions are streams too.
        (None, _) => Ok(load.stream.events().or_else(|| base.events.clone())),
        (Some(method), _) if method.returns_stream => Ok(Some(load.stream.messages())),
        (Some(_), None) => Ok(None),
        (Some(_), Some(name)) => Err(PlanError::Usage(format!(
            "--{name} needs a method that returns a stream: {} returns one message",
            base.target.path()
        ))),
    }
}

/// Returns the plan of the requests and of the way to the service, without the pace of the load, and the options that its requests were
/// made of. The plan has a thread for each CPU.
///
/// # Errors
/// As [`plan`], and those of `permit`.
pub fn base_and_options(load: &Load, url: Option<&str>, permit: Permit<'_>) -> Result<(Plan, Options), PlanError> {
    if let Some(url) = url.filter(|url| is_grpc(url)) {
        return grpc::call(load, url, permit).map(|call| (call.plan, call.options));
    }
    let (target, request, options) = request::requests(load, url)?;
    let (transport, timeout) = (&load.transport, load.pace.timeout());
    let chosen = transport.alt_svc.then(|| alt_svc::chosen(transport, &target, timeout, permit));
    let (chosen, alt_svc) = chosen.transpose()?.unzip();
    let plan = transport::plan(load, chosen.as_ref().unwrap_or(transport), target, request)?;
    let plan = log::with_requests(load, Plan { alt_svc, ..plan })?;
    if transport.tls.tls_earlydata {
        check_early_data(&load.transport.tls, &plan)?;
    }
    Ok((plan, options))
}
