//! A run's figures in Prometheus' text format.

mod page;
mod sessions;
mod streams;
mod websocket;

use page::Page;
use prometheus::{Result, TextEncoder};
use std::borrow::Cow;
use torr_gauge::FailureKind;
use torr_gauge::collector::Measurement;

/// Returns all metrics, with the target and the method as labels.
///
/// # Errors
/// Never for the result of a run.
pub fn text(run: &Measurement) -> Result<String> {
    let result = &run.result;
    let errors = FailureKind::ALL.map(|kind| (vec![("kind", kind.name().to_owned())], result.errors.of(kind)));
    let bytes = [("sent", result.bytes.sent), ("received", result.bytes.received)];
    let page = Page { result };
    let families = [
        page.counters(
            "torr_requests_total",
            "Complete responses by status.",
            result.status.iter().map(|(status, &n)| (vec![("status", status.to_string())], n)),
        ),
        page.counters(
            "torr_grpc_calls_total",
            "Complete calls of gRPC by status.",
            result.grpc.iter().map(|(status, &n)| (vec![("grpc_status", status.clone())], n)),
        ),
        page.counters("torr_errors_total", "Failed requests by kind; those of kind status had a response.", errors),
        page.counter("torr_asked_total", "Requests begun.", result.started),
        page.counter("torr_unfinished_total", "Requests in flight when the run ended.", result.unfinished),
        page.counters(
            "torr_bytes_total",
            "Bytes on the connections, header sections and framing included.",
            bytes.map(|(direction, n)| (vec![("direction", direction.to_owned())], n)),
        ),
        page.counter("torr_body_bytes_total", "Bytes of content received.", result.bytes.body),
        page.counter("torr_connections_total", "Connections opened.", result.connections.opened),
        page.histograms(
            "torr_latency_seconds",
            "Time from when a request was due to its last byte; timeouts and unfinished requests at their age.",
            [(Vec::new(), Cow::Owned(run.total.latency()))],
        ),
        page.gauge("torr_requests_per_second", "Complete responses per second over the whole run.", result.rps),
        page.gauge("torr_duration_seconds", "Duration of the run.", result.duration_s),
        page.gauge(
            "torr_generator_saturated",
            "1 if the load generator was the bottleneck, or near it.",
            f64::from(u8::from(result.generator.saturated)),
        ),
        page.counters(
            "torr_check_failures_total",
            "Responses that failed a check, by check.",
            result.checks.iter().map(|check| (vec![("check", check.name.clone())], check.failed)),
        ),
        page.gauges(
            "torr_threshold_failed",
            "1 if the run failed the threshold.",
            result.thresholds.iter().map(|t| (vec![("rule", t.rule.clone())], f64::from(u8::from(t.failed)))),
        ),
    ];
    // The format does not allow metrics without samples, such as checks of a run without checks.
    let others = sessions::families(&page, run).into_iter().chain(websocket::families(&page, run));
    let families = families.into_iter().chain(streams::families(&page, run)).chain(others);
    let families: Vec<_> = families.filter(|family| !family.get_metric().is_empty()).collect();
    TextEncoder::new().encode_to_string(&families)
}
