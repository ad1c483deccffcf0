//! Whether an open loop kept its schedule.

use super::words::{micros, percent};
use super::{CHANCE, Criterion, Finding, exponential, round4};
use crate::result::{Arrivals, RunResult};

/// The share of the median response time that the 99th percentile of lateness may be ...
const LAG_SHARE: f64 = 0.1;
/// ... though less than the one is what waking up costs, and more than the other is never on time: microseconds.
const LAG_US: (f64, f64) = (200.0, 1000.0);
/// The share by which the rate may be missed.
const MISSED: f64 = 0.001;
/// So many standard deviations of a random count are no miss.
const DEVIATIONS: f64 = 4.0;
/// The most by which the distribution of gaps may differ from what it should be. What waking up costs is in it, which
/// shows where gaps are short.
const DISTANCE: f64 = 0.1;

/// How late requests were sent.
pub(super) fn lag(run: &RunResult) -> Option<Finding> {
    let late = run.generator.send_lag_p99_us? as f64;
    let median = run.latency_us?.p50.unwrap_or(0) as f64;
    let limit = (LAG_SHARE * median).clamp(LAG_US.0, LAG_US.1).round();
    let note = format!("1% of the requests were sent {} or more after they could have been", micros(late));
    Some(Finding::at_most(Criterion::SendLag, late, limit, note).or(NOT_ALONE))
}

const NOT_ALONE: &str = "the generator did not keep its schedule, so latency is not the service's alone: ask for less, or press from a \
     machine with CPU to spare";

/// How many requests were sent of those that a constant rate asks for. `behind` says that the generator could not keep up.
pub(super) fn rate(run: &RunResult, sent: u64, behind: bool) -> Option<Finding> {
    let rate = run.plan.rate?;
    let seconds = run.plan.duration_s.map_or(run.duration_s, |planned| planned.min(run.duration_s));
    let due = (rate * seconds).ceil().min(run.plan.requests.map_or(f64::MAX, |n| n as f64));
    // Each thread may be about to send when the run ends.
    let mut slack = (MISSED * due).max(run.plan.threads as f64);
    if run.plan.arrivals == Some(Arrivals::Poisson) {
        slack = slack.max(DEVIATIONS * due.sqrt());
    }
    let missed = sent as f64 - due;
    let value = missed / due.max(1.0);
    let limit = round4(slack / due.max(1.0));
    let which = if missed < 0.0 { "fewer" } else { "more" };
    let mut note = format!("{sent} requests were sent on schedule, {} {which} than asked for", percent(value));
    let off = missed.abs() > slack;
    let (mut ok, mut advice) = (!off, "");
    if off && behind {
        advice = NOT_ALONE;
    } else if off && missed < 0.0 && run.connections.peak >= run.plan.connections as u64 {
        // Their clocks run: it is the service that does not take them, or the number of connections.
        ok = true;
        note += ": all connections were waiting for answers, so the service takes no more, or -c is too small";
    } else if off && missed < 0.0 && run.errors.unanswered() > 0 {
        ok = true;
        note += ": connections were held back after failures";
    } else if off {
        advice = "nothing was saturated, so this should not be: press again";
    }
    Some(Finding { ok, ..Finding::at_most(Criterion::Rate, value, limit, note) }.or(advice))
}

/// Whether random arrivals are those of independent users.
pub(super) fn arrivals(run: &RunResult, gaps: &[u64]) -> Option<Finding> {
    if run.plan.arrivals != Some(Arrivals::Poisson) {
        return None;
    }
    // Each thread sends a stream of its own.
    let mean = run.plan.threads as f64 * 1e9 / run.plan.rate?;
    let fit = exponential(gaps, mean)?;
    let note = format!(
        "the times between requests are off those of independent users by {} (Anderson-Darling: {:.1}, {} of them)",
        percent(fit.distance),
        fit.a2,
        gaps.len()
    );
    let ok = fit.p >= CHANCE || fit.distance <= DISTANCE;
    Some(
        Finding { ok, p: Some(fit.p), ..Finding::at_most(Criterion::Arrivals, fit.distance, DISTANCE, note) }
            .or("the generator bunched requests, so latency is not the service's alone: ask for less"),
    )
}
