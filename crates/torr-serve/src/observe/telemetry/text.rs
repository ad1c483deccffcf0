//! The table of metrics in Prometheus' text format.

use crate::observe::metric::Metric;
use crate::observe::metrics_table::{
    self, BOUNDS, BUCKETS, Count, GENERATIONS, Gauge, MetricKind, MetricsTable, STATUSES,
};
use std::fmt::{Display, Write};

/// Returns the whole page. Rows without a worker are left out.
pub(super) fn of(table: &MetricsTable, metrics: &[Metric]) -> String {
    let in_use: Vec<_> = (0..table.rows()).filter(|row| table.count(*row, Count::Started) > 0).collect();
    let sum = |count| in_use.iter().map(|row| table.count(*row, count)).sum::<u64>();
    let gauges = |gauge| in_use.iter().map(|row| table.gauge(*row, gauge)).sum::<u64>();
    let mut out = Page(String::with_capacity(8 * 1024));

    out.head("torr_build_info", "gauge", "The version of the server.");
    out.line("torr_build_info", &[("version", &env!("CARGO_PKG_VERSION"))], 1);
    out.head("torr_http_requests_total", "counter", "Responses, by status code.");
    for status in STATUSES {
        let n: u64 = in_use.iter().map(|row| table.status(*row, status)).sum();
        if n > 0 {
            out.line("torr_http_requests_total", &[("code", &status)], n);
        }
    }
    latency(table, &in_use, &mut out);
    out.one("torr_connections_accepted_total", "counter", "Connections accepted.", sum(Count::Accepted));
    out.one(
        "torr_connections_refused_total",
        "counter",
        "Connections rejected: beyond a limit, or without a valid PROXY header.",
        sum(Count::TurnedAway),
    );
    out.one("torr_connections_timed_out_total", "counter", "Connections closed by a time-out.", sum(Count::TimedOut));
    out.one(
        "torr_connections_handed_over_total",
        "counter",
        "Connections handed over to HTTP/2, an upgraded protocol or CONNECT.",
        sum(Count::HandedOver),
    );
    out.head("torr_connections", "gauge", "Open connections, by the component that serves them.");
    out.line("torr_connections", &[("by", &"engine")], gauges(Gauge::Open));
    out.line("torr_connections", &[("by", &"hyper")], gauges(Gauge::Elsewhere));
    out.line("torr_connections", &[("by", &"http3")], gauges(Gauge::Http3));
    out.one("torr_received_bytes_total", "counter", "Bytes received.", sum(Count::Received));
    out.one("torr_sent_bytes_total", "counter", "Bytes sent.", sum(Count::Sent));
    out.one("torr_handler_waits_total", "counter", "Handlers that did not complete immediately.", sum(Count::Waited));
    out.one("torr_handler_panics_total", "counter", "Handlers that panicked.", sum(Count::Panicked));
    out.one("torr_handler_stalls_total", "counter", "Times that a handler blocked its worker.", sum(Count::Stalled));
    let moved = "Calls that ran outside of the workers, as their routes compute.";
    out.one("torr_handler_moved_total", "counter", moved, sum(Count::Moved));
    blocking(&sum, &mut out);
    each_worker(table, &in_use, &mut out);
    for (number, metric) in metrics.iter().enumerate() {
        let sum = in_use.iter().map(|row| table.own(*row, number)).sum::<u64>();
        match metric.kind() {
            MetricKind::Counter => out.one(metric.name(), "counter", metric.help(), sum),
            MetricKind::Seconds => out.one(metric.name(), "counter", metric.help(), seconds(sum)),
            MetricKind::Gauge => out.one(metric.name(), "gauge", metric.help(), sum),
        }
    }
    out.0
}

fn latency(table: &MetricsTable, in_use: &[usize], out: &mut Page) {
    const NAME: &str = "torr_http_request_duration_seconds";
    out.head(
        NAME,
        "histogram",
        "Time from a complete request to its response, or the first part of it, being written to the socket.",
    );
    let (bucket, mut so_far) = (format!("{NAME}_bucket"), 0);
    for number in 0..BUCKETS {
        so_far += in_use.iter().map(|row| table.bucket(*row, number)).sum::<u64>();
        match BOUNDS.get(number) {
            Some(bound) => out.line(&bucket, &[("le", &(*bound as f64 / 1e6))], so_far),
            None => out.line(&bucket, &[("le", &"+Inf")], so_far),
        }
    }
    let total: u64 = in_use.iter().map(|row| table.count(*row, Count::Latency)).sum();
    out.line(&format!("{NAME}_sum"), &[], seconds(total));
    out.line(&format!("{NAME}_count"), &[], so_far);
}

fn blocking(sum: &impl Fn(Count) -> u64, out: &mut Page) {
    let (taken, done) = (sum(Count::Blocked), sum(Count::BlockedDone));
    out.one("torr_blocking_calls_total", "counter", "Calls of blocking handlers.", taken);
    out.one(
        "torr_blocking_calls",
        "gauge",
        "Calls of blocking handlers that are queued or running.",
        taken.saturating_sub(done),
    );
    let wait = seconds(sum(Count::BlockedWait));
    out.one("torr_blocking_wait_seconds_total", "counter", "Time that calls of blocking handlers were queued.", wait);
    out.one(
        "torr_blocking_refused_total",
        "counter",
        "Calls of blocking handlers rejected because the queue was at its limit.",
        sum(Count::BlockedRefused),
    );
}

fn each_worker(table: &MetricsTable, in_use: &[usize], out: &mut Page) {
    // A worker and its predecessors are shown as one.
    let mut workers: Vec<_> = in_use.iter().map(|row| row / GENERATIONS).collect();
    workers.dedup();
    let mut all = |name: &str, kind: &str, help: &str, of: &dyn Fn(usize) -> f64| {
        out.head(name, kind, help);
        for worker in &workers {
            out.line(name, &[("worker", worker)], of(*worker));
        }
    };
    let rows = |worker: usize| (0..GENERATIONS).map(move |generation| metrics_table::row(worker, generation));
    let total = |worker: usize, of: &dyn Fn(usize) -> u64| rows(worker).map(of).sum::<u64>();
    let count = |count| move |worker| total(worker, &|row| table.count(row, count)) as f64;
    let time = |count| move |worker| seconds(total(worker, &|row| table.count(row, count)));
    let gauge = |gauge| move |worker| total(worker, &|row| table.gauge(row, gauge)) as f64;
    let started = |worker: usize| rows(worker).map(|row| table.count(row, Count::Started)).max().unwrap_or(0) as f64;
    all("torr_worker_start_time_seconds", "gauge", "Start time of the worker, in Unix time.", &started);
    let busy = time(Count::Busy);
    all("torr_worker_busy_seconds_total", "counter", "Time in which the worker was not waiting for events.", &busy);
    let handling = time(Count::Handling);
    all(
        "torr_worker_handling_seconds_total",
        "counter",
        "Time in which the worker read requests and ran handlers.",
        &handling,
    );
    let turns = count(Count::Turns);
    all("torr_worker_turns_total", "counter", "Turns of the worker's event loop in which events were ready.", &turns);
    let ready = count(Count::Ready);
    all(
        "torr_worker_ready_total",
        "counter",
        "Connections that were ready in these turns; divided by the turns, the queue length.",
        &ready,
    );
    all("torr_worker_accepted_total", "counter", "Connections accepted by the worker.", &count(Count::Accepted));
    all("torr_worker_connections", "gauge", "Open connections of the worker.", &gauge(Gauge::Open));
    all("torr_worker_waiting", "gauge", "Handlers and bodies that the worker waits for.", &gauge(Gauge::Waiting));
}

fn seconds(nanos: u64) -> f64 {
    nanos as f64 / 1e9
}

struct Page(String);

impl Page {
    fn head(&mut self, name: &str, kind: &str, help: &str) {
        // Writing to memory does not fail.
        let _ = write!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}\n");
    }

    fn line(&mut self, name: &str, labels: &[(&str, &dyn Display)], value: impl Display) {
        self.0.push_str(name);
        for (number, (label, of)) in labels.iter().enumerate() {
            let _ = write!(self.0, "{}{label}=\"{of}\"", if number == 0 { '{' } else { ',' });
        }
        let end = if labels.is_empty() { "" } else { "}" };
        let _ = writeln!(self.0, "{end} {value}");
    }

    fn one(&mut self, name: &str, kind: &str, help: &str, value: impl Display) {
        self.head(name, kind, help);
        self.line(name, &[], value);
    }
}
