//! The metrics of a run in the model of Prometheus, for the formats that have it.

mod family;
mod sessions;
mod streams;
mod websocket;

pub(crate) use family::{Family, Labels, Samples};

use family::{counter, counters, gauge, gauges, histograms};
use std::borrow::Cow;
use torr_gauge::FailureKind;
use torr_gauge::RunResult;
use torr_gauge::collector::Measurement;

/// Returns the labels that all samples of a run have.
pub(crate) fn labels(run: &RunResult) -> [(&'static str, &str); 2] {
    [("target", &run.target), ("method", &run.plan.method)]
}

/// Returns all metrics of a run that have samples.
pub(crate) fn of(run: &Measurement) -> Vec<Family<'_>> {
    let result = &run.result;
    let errors = FailureKind::ALL.map(|kind| (vec![("kind", kind.name().to_owned())], result.errors.of(kind)));
    let bytes = [("sent", result.bytes.sent), ("received", result.bytes.received)];
    let families = [
        counters(
            "torr_requests_total",
            "Complete responses by status.",
            result.status.iter().map(|(status, &n)| (vec![("status", status.to_string())], n)),
        ),
        counters(
            "torr_grpc_calls_total",
            "Complete calls of gRPC by status.",
            result.grpc.iter().map(|(status, &n)| (vec![("grpc_status", status.clone())], n)),
        ),
        counters("torr_errors_total", "Failed requests by kind; those of kind status had a response.", errors),
        counter("torr_asked_total", "Requests begun.", result.started),
        counter("torr_unfinished_total", "Requests in flight when the run ended.", result.unfinished),
        counters(
            "torr_bytes_total",
            "Bytes on the connections, header sections and framing included.",
            bytes.map(|(direction, n)| (vec![("direction", direction.to_owned())], n)),
        ),
        counter("torr_body_bytes_total", "Bytes of content received.", result.bytes.body),
        counter("torr_connections_total", "Connections opened.", result.connections.opened),
        histograms(
            "torr_latency_seconds",
            "Time from when a request was due to its last byte; timeouts and unfinished requests at their age.",
            [(Vec::new(), Cow::Owned(run.total.latency()))],
        ),
        gauge("torr_requests_per_second", "Complete responses per second over the whole run.", result.rps),
        gauge("torr_duration_seconds", "Duration of the run.", result.duration_s),
        gauge(
            "torr_generator_saturated",
            "1 if the load generator was the bottleneck, or near it.",
            f64::from(u8::from(result.generator.saturated)),
        ),
        counters(
            "torr_check_failures_total",
            "Responses that failed a check, by check.",
            result.checks.iter().map(|check| (vec![("check", check.name.clone())], check.failed)),
        ),
        gauges(
            "torr_threshold_failed",
            "1 if the run failed the threshold.",
            result.thresholds.iter().map(|t| (vec![("rule", t.rule.clone())], f64::from(u8::from(t.failed)))),
        ),
    ];
    let others = sessions::families(run).into_iter().chain(websocket::families(run));
    let families = families.into_iter().chain(streams::families(run)).chain(others);
    // The formats do not allow metrics without samples, such as checks of a run without checks.
    families.filter(|family| !family.is_empty()).collect()
}
