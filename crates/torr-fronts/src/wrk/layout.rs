//! The layout of wrk, and of wrk2 for open loops.

use super::args::Args;
use super::units::{self, Unit};
use crate::figures::{latency, per_second};
use crate::spread::{Spread, percentile, within_deviation};
use std::fmt::Write;
use torr_gauge::collector::Measurement;
use torr_gauge::{FailureKind, Latency, redact};

/// Returns the lines to print before the run.
pub fn heading(args: &Args) -> String {
    let length = Unit::Seconds.text(args.duration as f64);
    format!(
        "Running {length} test @ {}\n  {} threads and {} connections\n",
        redact::url(&args.url),
        args.threads,
        args.connections
    )
}

/// Returns the lines to print after the run.
pub fn report(measured: &Measurement, args: &Args) -> String {
    let latency = latency(measured);
    let mut text = format!("  Thread Stats{:>6}{:>11}{:>8}{:>12}\n", "Avg", "Stdev", "Max", "+/- Stdev");
    stats(&mut text, "Latency", &latency, Unit::Micros);
    stats(&mut text, "Req/Sec", &thread_rates(measured), Unit::Count);
    if args.latency && args.rate.is_some() {
        corrected_distribution(&mut text, &latency);
    } else if args.latency {
        distribution(&mut text, &latency);
    }
    let result = &measured.result;
    let _ = writeln!(
        text,
        "  {} requests in {}, {}B read",
        result.requests,
        units::time(result.duration_s * 1e6),
        Unit::Bytes.text(result.bytes.received as f64)
    );
    errors(&mut text, measured);
    let _ = writeln!(text, "Requests/sec: {:>9.2}", per_second(result.requests, measured));
    let transfer = Unit::Bytes.text(per_second(result.bytes.received, measured));
    let _ = writeln!(text, "Transfer/sec: {transfer:>10}B");
    text
}

/// Returns the responses per second of each thread in each second, or in a shorter run of each thread.
fn thread_rates(measured: &Measurement) -> Latency {
    if measured.thread_rates.count() > 0 {
        return measured.thread_rates.clone();
    }
    let mut rates = Latency::default();
    measured.threads.iter().for_each(|thread| rates.record_number(per_second(thread.answered, measured) as u64));
    rates
}

fn stats(text: &mut String, name: &str, of: &Latency, unit: Unit) {
    let spread = Spread::of(of);
    let columns = [(spread.mean, 8), (spread.sd, 10), (spread.max, 9)];
    let columns = columns.map(|(n, width)| units::column(&unit.measure(n), width)).concat();
    let _ = writeln!(text, "    {name:<10}{columns}{:>8.2}%", within_deviation(of) * 100.0);
}

fn distribution(text: &mut String, latency: &Latency) {
    text.push_str("  Latency Distribution\n");
    for percent in [50.0, 75.0, 90.0, 99.0] {
        let time = units::column(&units::time(percentile(latency, percent)), 10);
        let _ = writeln!(text, "{percent:>7.0}%{time}");
    }
}

/// Appends wrk2's distribution with its percentile spectrum.
fn corrected_distribution(text: &mut String, latency: &Latency) {
    text.push_str("  Latency Distribution (HdrHistogram - Recorded Latency)\n");
    for percent in [50.0, 75.0, 90.0, 99.0, 99.9, 99.99, 99.999, 100.0] {
        let time = units::column(&units::time(percentile(latency, percent)), 10);
        let _ = writeln!(text, "{percent:>7.3}%{time}");
    }
    let heads = ["Value", "Percentile", "TotalCount", "1/(1-Percentile)"].map(|head| format!("{head:>12}")).join(" ");
    let _ = writeln!(text, "\n  Detailed Percentile spectrum:\n{heads}\n");
    let mut below = 0;
    for step in latency.histogram().iter_quantiles(5) {
        below += step.count_since_last_iteration();
        let (value, quantile) = (step.value_iterated_to() as f64 / 1e3, step.quantile_iterated_to());
        let _ = writeln!(text, "{value:>12.3} {quantile:>12.6} {below:>12} {:>12.2}", 1.0 / (1.0 - quantile));
    }
    let spread = Spread::of(latency);
    let (mean, sd, max) = (spread.mean / 1e3, spread.sd / 1e3, spread.max / 1e3);
    let _ = writeln!(text, "#[Mean    = {mean:>12.3}, StdDeviation   = {sd:>12.3}]");
    let _ = writeln!(text, "#[Max     = {max:>12.3}, Total count    = {:>12}]", latency.count());
    let _ = writeln!(text, "{}", "-".repeat(58));
}

fn errors(text: &mut String, measured: &Measurement) {
    let of = |kinds: &[FailureKind]| measured.total.failures.of_any(kinds);
    let connect = of(&[FailureKind::Connect, FailureKind::Tls, FailureKind::Ports]);
    let (read, write, timeout) =
        (of(&[FailureKind::Read, FailureKind::Protocol]), of(&[FailureKind::Write]), of(&[FailureKind::Timeout]));
    if connect + read + write + timeout > 0 {
        let _ = writeln!(text, "  Socket errors: connect {connect}, read {read}, write {write}, timeout {timeout}");
    }
    if measured.result.errors.status > 0 {
        let _ = writeln!(text, "  Non-2xx or 3xx responses: {}", measured.result.errors.status);
    }
}

/// Returns notes on figures that differ from those of wrk.
pub fn notes(measured: &Measurement) -> Vec<String> {
    let mut notes = Vec::new();
    if measured.result.connections.opened > measured.result.plan.connections as u64 {
        notes.push("latency includes the wait for a new connection".to_owned());
    }
    let counts =
        [(measured.total.failures.of(FailureKind::Timeout), "timed out"), (measured.result.unfinished, "unfinished")];
    let counts = counts.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}")).collect::<Vec<_>>();
    if !counts.is_empty() {
        notes.push(format!("latency includes requests without a response, at their age: {}", counts.join(", ")));
    }
    notes
}
