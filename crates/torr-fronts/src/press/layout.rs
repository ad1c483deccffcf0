//! The layout of `drogon_ctl press`.

use crate::figures::{latency, mean, outcome, per_second, status_note};
use std::fmt::Write;
use torr_gauge::collector::Measurement;

/// Returns the report.
pub fn report(measured: &Measurement) -> String {
    let mut text = String::from("\n");
    let result = &measured.result;
    let (success, fail) = outcome(measured);
    let (bytes, overhead) = (result.bytes.body, result.bytes.received - result.bytes.body);
    let request_us = latency(measured).histogram().mean();
    let kilobytes = |bytes| per_second(bytes, measured) / 1e3;
    let _ = writeln!(
        text,
        "TOTALS:   {} connect, {} requests, {success} success, {fail} fail",
        result.connections.opened,
        success + fail
    );
    let _ = writeln!(
        text,
        "TRAFFIC:  {} avg bytes, {} avg overhead, {bytes} bytes, {overhead} overhead",
        mean(bytes, result.requests),
        mean(overhead, result.requests)
    );
    let _ = writeln!(
        text,
        "TIMING:   {:.3} seconds, {} rps, {:.3} ms avg req time",
        result.duration_s,
        per_second(success, measured) as u64,
        request_us / 1e3
    );
    let _ = writeln!(
        text,
        "SPEED:    download {:.3} kBps, upload {:.3} kBps\n",
        kilobytes(result.bytes.received),
        kilobytes(result.bytes.sent)
    );
    text
}

/// Returns notes on figures that differ from those of `drogon_ctl press`.
pub fn notes(measured: &Measurement) -> Vec<String> {
    status_note(measured).into_iter().collect()
}
