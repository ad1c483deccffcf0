//! Results in the layouts of other load generators, for scripts that read those.

pub mod ab;
pub mod httpress;
pub mod press;
pub mod spread;
mod units;
pub mod wrk;

use torr_gauge::collector::Measurement;
use torr_gauge::{Factor, Latency};

/// Returns the line that Torr prints beside another program's layout: what limits the service, and which figures differ
/// from that program's.
pub fn verdict_line(measured: &Measurement, notes: &[String]) -> String {
    let limit = measured.result.verdict.as_ref().map(|verdict| match verdict.factor {
        Factor::Unknown => format!("what limits it is unknown: {}", verdict.summary),
        Factor::None => verdict.summary.clone(),
        factor => format!("limited by {factor} ({}): {}", verdict.confidence, verdict.summary),
    });
    let sentences: Vec<_> = limit.iter().chain(notes).map(|text| text.trim_end_matches('.')).collect();
    sentences.join("; ")
}

/// Returns the response times, with timed out and unfinished requests at their age.
fn latency(measured: &Measurement) -> Latency {
    let mut latency = measured.total.answered.clone();
    latency.add(&measured.total.unanswered);
    latency
}

/// Returns the number of requests that failed without a complete response.
fn failed(measured: &Measurement) -> u64 {
    measured.total.failures.total()
}

/// Returns a count per second of the run.
fn per_second(n: u64, measured: &Measurement) -> f64 {
    n as f64 / measured.result.duration_s.max(1e-9)
}

/// Returns the mean as a whole number, or 0 if `count` is 0.
fn mean(sum: u64, count: u64) -> u64 {
    sum.checked_div(count).unwrap_or(0)
}
