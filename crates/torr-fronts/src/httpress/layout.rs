//! The layout of httpress.

use crate::figures::{latency, mean, outcome, per_second, status_note};
use std::fmt::Write;
use torr_gauge::collector::{Measurement, ThreadTotals};

/// Returns the report: a line per thread if there are several and `with_threads` is set, then the totals.
pub fn report(measured: &Measurement, with_threads: bool) -> String {
    let mut text = String::new();
    if with_threads && measured.threads.len() > 1 {
        for (number, thread) in (1..).zip(&measured.threads) {
            let ThreadTotals { opened, answered, status_errors, failed, received, body, idle: _ } = *thread;
            let (success, fail, overhead) = (answered - status_errors, failed + status_errors, received - body);
            let _ = writeln!(
                text,
                "thread {number}: {opened} connect, {} requests, {success} success, {fail} fail, {body} bytes, \
                 {overhead} overhead",
                success + fail
            );
        }
    }
    let result = &measured.result;
    let (success, fail) = outcome(measured);
    let (bytes, overhead) = (result.bytes.body, result.bytes.received - result.bytes.body);
    let _ = writeln!(
        text,
        "\nTOTALS:  {} connect, {} requests, {success} success, {fail} fail, {} ({}) real concurrency",
        result.connections.opened,
        success + fail,
        result.connections.peak.unwrap_or(result.connections.opened),
        in_flight(measured)
    );
    let _ = writeln!(
        text,
        "TRAFFIC: {} avg bytes, {} avg overhead, {bytes} bytes, {overhead} overhead",
        mean(bytes, result.requests),
        mean(overhead, result.requests)
    );
    let millis = (result.duration_s * 1e3) as u64;
    let _ = writeln!(
        text,
        "TIMING:  {}.{:03} seconds, {} rps, {} kbps, {:.1} ms avg req time",
        millis / 1000,
        millis % 1000,
        per_second(success, measured) as u64,
        (per_second(result.bytes.received, measured) / 1024.0) as u64,
        latency(measured).histogram().mean() / 1e3
    );
    text
}

/// Returns the mean number of requests in flight: the sum of response times divided by the run's duration.
fn in_flight(measured: &Measurement) -> u64 {
    let times = latency(measured);
    (times.histogram().mean() * times.count() as f64 / 1e6 / measured.result.duration_s.max(1e-9)).round() as u64
}

/// Returns notes on figures that differ from those of httpress.
pub fn notes(measured: &Measurement) -> Vec<String> {
    let mut notes = vec!["the second real concurrency is the mean number of requests in flight".to_owned()];
    notes.extend(status_note(measured));
    notes
}
