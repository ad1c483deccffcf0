//! The fidelity of an open loop to its schedule.

use super::exponential::exponential;
use crate::result::validity::{CHANCE, Caution, Finding, OffSchedule, round4};
use crate::result::{Arrivals, RunResult};
use crate::verdict::Unit;

/// The limit of the send lag's 99th percentile as a share of the median response time ...
const LAG_SHARE: f64 = 0.1;
/// ... within these bounds in microseconds: the cost of a wake-up, and a lag that is never acceptable.
const LAG_US: (f64, f64) = (200.0, 1000.0);
/// The limit of the relative deviation from the rate.
const MISSED: f64 = 0.001;
/// The number of standard deviations that a random count may deviate.
const DEVIATIONS: f64 = 4.0;
/// The limit of the difference between the distributions of gaps, which includes the cost of wake-ups between short gaps.
const DISTANCE: f64 = 0.1;

/// Judges the send lag beside the times to the responses, or to the first events of streams.
pub(super) fn lag(run: &RunResult) -> Option<Finding> {
    let late = run.generator.send_lag_p99_us? as f64;
    let median = run.waits_us()?.p50.unwrap_or(0) as f64;
    let limit = (LAG_SHARE * median).clamp(LAG_US.0, LAG_US.1).round();
    Some(Finding::at_most(limit, Caution::SendLag { p99_us: late }))
}

/// Judges the number of requests sent at a constant rate. `behind` tells that the generator was saturated or lagged.
pub(super) fn rate(run: &RunResult, sent: u64, behind: bool) -> Option<Finding> {
    let rate = run.plan.rate?;
    // The rate of a run with sessions is one of sessions, which are carried out by users instead of connections.
    let (unit, sent, used) = match &run.sessions {
        Some(sessions) => (Unit::Session, sessions.started, Some(sessions.users)),
        None => (Unit::Request, sent, run.connections.peak),
    };
    let seconds = run.plan.duration_s.map_or(run.duration_s, |planned| planned.min(run.duration_s));
    let due = (rate * seconds).ceil().min(run.plan.requests.map_or(f64::MAX, |n| n as f64));
    // Each thread may have a request due at the end of the run.
    let mut slack = (MISSED * due).max(run.plan.threads.unwrap_or(1) as f64);
    if run.plan.arrivals == Some(Arrivals::Poisson) {
        slack = slack.max(DEVIATIONS * due.sqrt());
    }
    let missed = sent as f64 - due;
    let limit = round4(slack / due.max(1.0));
    let reason = (missed.abs() > slack).then_some(match () {
        () if behind => OffSchedule::GeneratorBehind,
        // The requests wait for a connection: the service is saturated, or the connections are too few.
        () if missed < 0.0 && used.is_some_and(|used| used >= run.plan.connections as u64) => OffSchedule::AllWaiting,
        () if missed < 0.0 && run.errors.unanswered() > 0 => OffSchedule::Failures,
        () => OffSchedule::Unknown,
    });
    let ok = !matches!(reason, Some(OffSchedule::GeneratorBehind | OffSchedule::Unknown));
    let fact = Caution::Rate { unit, count: sent, deviation: missed / due.max(1.0), reason };
    Some(Finding { ok, ..Finding::at_most(limit, fact) })
}

/// Judges whether random arrivals are a Poisson process.
pub(super) fn arrivals(run: &RunResult, gaps: &[u64]) -> Option<Finding> {
    if run.plan.arrivals != Some(Arrivals::Poisson) {
        return None;
    }
    // Each thread has a Poisson process of its own.
    let mean = run.plan.threads? as f64 * 1e9 / run.plan.rate?;
    let fit = exponential(gaps, mean)?;
    let ok = fit.p >= CHANCE || fit.distance <= DISTANCE;
    let fact = Caution::Arrivals { distance: fit.distance, a2: fit.a2, gaps: gaps.len() };
    Some(Finding { ok, p: Some(fit.p), ..Finding::at_most(DISTANCE, fact) })
}
