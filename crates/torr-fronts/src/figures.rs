//! The figures that several layouts show.

use torr_gauge::Latency;
use torr_gauge::collector::Measurement;

/// Returns the response times, with timed out and unfinished requests at their age.
pub fn latency(measured: &Measurement) -> Latency {
    measured.total.latency()
}

/// Returns the number of requests that failed without a complete response.
pub fn failed(measured: &Measurement) -> u64 {
    measured.total.failures.total()
}

/// Returns the note that responses count as failures, where there are such.
pub fn status_note(measured: &Measurement) -> Option<String> {
    (measured.result.errors.status > 0).then(|| "responses with status 400 and above count as failures".into())
}

/// Returns the number of responses with a status below 400, and the number of all other requests that have ended.
pub fn outcome(measured: &Measurement) -> (u64, u64) {
    let result = &measured.result;
    (result.requests - result.errors.status, failed(measured) + result.errors.status)
}

/// Returns a count per second of the run.
pub fn per_second(n: u64, measured: &Measurement) -> f64 {
    n as f64 / measured.result.duration_s.max(1e-9)
}

/// Returns the mean as a whole number, or 0 if `count` is 0.
pub fn mean(sum: u64, count: u64) -> u64 {
    sum.checked_div(count).unwrap_or(0)
}
