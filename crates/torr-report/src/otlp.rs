//! A run's figures as OpenTelemetry metrics, in the messages of OTLP.

mod points;
mod sessions;
mod streams;
mod websocket;

use opentelemetry_proto::tonic::collector::metrics::v1::{ExportMetricsServiceRequest, ExportMetricsServiceResponse};
use opentelemetry_proto::tonic::common::v1::InstrumentationScope;
use opentelemetry_proto::tonic::metrics::v1::{ResourceMetrics, ScopeMetrics};
use opentelemetry_proto::tonic::resource::v1::Resource;
use points::{Points, gauge, number, sum, text};
use prost::Message;
use torr_gauge::FailureKind;
use torr_gauge::collector::Measurement;

/// Returns the content of a request with all metrics of a run.
pub(crate) fn content(run: &Measurement, is_exponential: bool) -> Vec<u8> {
    metrics(run, is_exponential).encode_to_vec()
}

/// Returns how many points a collector refused, and why as it says, by the content of its response.
pub(crate) fn refused(response: &[u8]) -> Option<(i64, String)> {
    let part = ExportMetricsServiceResponse::decode(response).ok()?.partial_success?;
    (part.rejected_data_points > 0).then_some((part.rejected_data_points, part.error_message))
}

/// Returns all metrics of a run, with exponential histograms or with those of fixed bounds.
pub fn metrics(run: &Measurement, is_exponential: bool) -> ExportMetricsServiceRequest {
    let result = &run.result;
    let points = Points::new(result, is_exponential);
    let scope = InstrumentationScope {
        name: "torr".into(),
        version: env!("CARGO_PKG_VERSION").into(),
        ..InstrumentationScope::default()
    };
    let resource = Resource {
        attributes: vec![text("service.name", "torr"), text("service.version", env!("CARGO_PKG_VERSION"))],
        ..Resource::default()
    };
    let by_status = result
        .status
        .iter()
        .map(|(&status, &n)| points.count(n, vec![number("http.response.status_code", i64::from(status))]));
    let by_kind = FailureKind::ALL
        .iter()
        .map(|&kind| points.count(result.errors.of(kind), vec![text("error.type", kind.name())]));
    let directions = [("transmit", result.bytes.sent), ("receive", result.bytes.received)];
    let bytes = directions.map(|(direction, n)| points.count(n, vec![text("network.io.direction", direction)]));
    let mut metrics = vec![
        sum("torr.requests", "{request}", "Complete responses by status", by_status.collect()),
        sum(
            "torr.errors",
            "{request}",
            "Failed requests by kind; those of kind status had a response",
            by_kind.collect(),
        ),
        sum("torr.asked", "{request}", "Requests begun", vec![points.count(result.started, Vec::new())]),
        sum(
            "torr.unfinished",
            "{request}",
            "Requests in flight when the run ended",
            vec![points.count(result.unfinished, Vec::new())],
        ),
        sum("torr.bytes", "By", "Bytes on the connections, header sections and framing included", bytes.into()),
        sum(
            "torr.connections",
            "{connection}",
            "Connections opened",
            vec![points.count(result.connections.opened, Vec::new())],
        ),
        points.histogram(
            "torr.latency",
            "Time from when a request was due to its last byte; timeouts and unfinished requests at their age",
            vec![points.times(&run.total.latency(), result.latency_us.map(|latency| latency.min), Vec::new())],
        ),
        gauge("torr.rps", "{request}/s", "Complete responses per second over the whole run", points.value(result.rps)),
        gauge("torr.duration", "s", "Duration of the run", points.value(result.duration_s)),
    ];
    metrics.extend(streams::metrics(&points, run));
    metrics.extend(websocket::metrics(&points, run));
    if !result.grpc.is_empty() {
        let by_status =
            result.grpc.iter().map(|(name, &n)| points.count(n, vec![text("rpc.response.status_code", name)]));
        metrics.push(sum("torr.grpc.calls", "{call}", "Complete calls of gRPC by status", by_status.collect()));
    }
    metrics.extend(sessions::metrics(&points, run));
    let scope_metrics = vec![ScopeMetrics { scope: Some(scope), metrics, ..ScopeMetrics::default() }];
    let all = ResourceMetrics { resource: Some(resource), scope_metrics, ..ResourceMetrics::default() };
    ExportMetricsServiceRequest { resource_metrics: vec![all] }
}
