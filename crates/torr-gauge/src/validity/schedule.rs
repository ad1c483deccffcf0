//! The fidelity of an open loop to its schedule.

use super::exponential::exponential;
use crate::numbers::{micros, percent};
use crate::result::validity::{CHANCE, Criterion, Finding, round4};
use crate::result::{Arrivals, RunResult};

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

/// Judges the send lag.
pub(super) fn lag(run: &RunResult) -> Option<Finding> {
    let late = run.generator.send_lag_p99_us? as f64;
    let median = run.latency_us?.p50.unwrap_or(0) as f64;
    let limit = (LAG_SHARE * median).clamp(LAG_US.0, LAG_US.1).round();
    let note = format!("Torr sent 1% of the requests {} or more late", micros(late));
    Some(Finding::at_most(Criterion::SendLag, late, limit, note).or(NOT_ALONE))
}

const NOT_ALONE: &str =
    "response times include Torr's own delays: lower the rate, or run Torr on a machine with free CPU";

/// Judges the number of requests sent at a constant rate. `behind` tells that the generator was saturated or lagged.
pub(super) fn rate(run: &RunResult, sent: u64, behind: bool) -> Option<Finding> {
    let rate = run.plan.rate?;
    // The rate of a run with sessions is one of sessions, which are carried out by users instead of connections.
    let (sent, noun, verb, used, waiting) = match &run.sessions {
        Some(sessions) => (sessions.started, "sessions", "begun", Some(sessions.users), "users were in sessions"),
        None => (sent, "requests", "sent", run.connections.peak, "connections were waiting for responses"),
    };
    let seconds = run.plan.duration_s.map_or(run.duration_s, |planned| planned.min(run.duration_s));
    let due = (rate * seconds).ceil().min(run.plan.requests.map_or(f64::MAX, |n| n as f64));
    // Each thread may have a request due at the end of the run.
    let mut slack = (MISSED * due).max(run.plan.threads as f64);
    if run.plan.arrivals == Some(Arrivals::Poisson) {
        slack = slack.max(DEVIATIONS * due.sqrt());
    }
    let missed = sent as f64 - due;
    let value = missed / due.max(1.0);
    let limit = round4(slack / due.max(1.0));
    let which = if missed < 0.0 { "fewer" } else { "more" };
    let mut note = format!("{sent} {noun} were {verb} on schedule, {} {which} than scheduled", percent(value.abs()));
    let off = missed.abs() > slack;
    let (mut ok, mut advice) = (!off, "");
    if off && behind {
        advice = NOT_ALONE;
    } else if off && missed < 0.0 && used.is_some_and(|used| used >= run.plan.connections as u64) {
        // The requests wait for a connection: the service is saturated, or the connections are too few.
        ok = true;
        note += &format!(": all {waiting}, so the service handles no more, or -c is too small");
    } else if off && missed < 0.0 && run.errors.unanswered() > 0 {
        ok = true;
        note += ": Torr paused connections after failures";
    } else if off {
        advice = "nothing was saturated, so this is unexpected: run again";
    }
    Some(Finding { ok, ..Finding::at_most(Criterion::Rate, value, limit, note) }.or(advice))
}

/// Judges whether random arrivals are a Poisson process.
pub(super) fn arrivals(run: &RunResult, gaps: &[u64]) -> Option<Finding> {
    if run.plan.arrivals != Some(Arrivals::Poisson) {
        return None;
    }
    // Each thread has a Poisson process of its own.
    let mean = run.plan.threads as f64 * 1e9 / run.plan.rate?;
    let fit = exponential(gaps, mean)?;
    let note = format!(
        "the gaps between requests differ from those of independent users by {} (Anderson-Darling: {:.1}, {} gaps)",
        percent(fit.distance),
        fit.a2,
        gaps.len()
    );
    let ok = fit.p >= CHANCE || fit.distance <= DISTANCE;
    Some(
        Finding { ok, p: Some(fit.p), ..Finding::at_most(Criterion::Arrivals, fit.distance, DISTANCE, note) }
            .or("response times include Torr's own delays, since it sent requests in bunches: lower the rate"),
    )
}
