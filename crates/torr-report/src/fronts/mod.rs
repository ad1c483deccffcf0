//! Results in the layouts of other load generators, so that scripts which read those go on working.

pub mod ab;
pub mod httpress;
pub mod press;
pub mod spread;
mod units;
pub mod wrk;

use torr_gauge::collector::Measurement;
use torr_gauge::{Factor, Latency};

/// The one line beside another program's layout: what limits the service, and which figures differ from that program's.
pub fn verdict_line(measured: &Measurement, notes: &[String]) -> String {
    let limit = measured.result.verdict.as_ref().map(|verdict| match verdict.factor {
        Factor::Unknown => format!("what limits it is unknown: {}", verdict.summary),
        Factor::None => verdict.summary.clone(),
        factor => format!("limited by {factor} ({}): {}", verdict.confidence, verdict.summary),
    });
    let sentences: Vec<_> = limit.iter().chain(notes).map(|text| text.trim_end_matches('.')).collect();
    sentences.join("; ")
}

/// Response times, with those of requests that were not answered in time at their age.
fn latency(measured: &Measurement) -> Latency {
    let mut latency = measured.total.answered.clone();
    latency.add(&measured.total.unanswered);
    latency
}

/// Requests that failed without a whole answer.
fn failed(measured: &Measurement) -> u64 {
    measured.total.failures.total()
}

/// Per second of the run.
fn per_second(n: u64, measured: &Measurement) -> f64 {
    n as f64 / measured.result.duration_s.max(1e-9)
}

/// A whole number divided by another, or 0 where that is 0.
fn mean(sum: u64, count: u64) -> u64 {
    sum.checked_div(count).unwrap_or(0)
}
