//! A run's figures as OpenTelemetry metrics, sent to a collector by OTLP over HTTP.

mod points;
mod sessions;
mod streams;
mod websocket;

use opentelemetry_proto::tonic::collector::metrics::v1::{ExportMetricsServiceRequest, ExportMetricsServiceResponse};
use opentelemetry_proto::tonic::common::v1::InstrumentationScope;
use opentelemetry_proto::tonic::metrics::v1::{ResourceMetrics, ScopeMetrics};
use opentelemetry_proto::tonic::resource::v1::Resource;
use percent_encoding::percent_decode_str;
use points::{Points, gauge, histogram, number, sum, text};
use prost::Message;
use std::time::Duration;
use thiserror::Error;
use torr_gauge::collector::Measurement;
use torr_gauge::{FailureKind, redact};
use ureq::Agent;
use ureq::http::{HeaderName, HeaderValue, Uri};

/// The time-out of the request.
const TIMEOUT: Duration = Duration::from_secs(10);
/// The most bytes of a response that are read.
const MAX_RESPONSE: u64 = 64 * 1024;

/// A collector's URL, and the header fields to send to it.
#[derive(Debug, Clone)]
pub struct Collector {
    url: Uri,
    headers: Vec<(HeaderName, HeaderValue)>,
}

/// Why a text is not a collector.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum CollectorError {
    /// The text is not a URL.
    #[error("must be a URL such as http://localhost:4318")]
    Url,
    /// The URL has another scheme than `http`.
    #[error("https:// is not supported: use an OpenTelemetry Collector that listens on http://")]
    Scheme,
    /// The header field of this number, counted from 1, is malformed. The error does not quote the field, which may hold a
    /// secret.
    #[error("header {0} must be name=value (not shown, as it may hold a secret)")]
    Headers(usize),
}

/// Why the collector did not accept the metrics.
#[derive(Debug, Error)]
pub enum SendError {
    /// There was no response.
    #[error("{0}")]
    Transport(#[from] ureq::Error),
    /// The response has an error status.
    #[error("the collector responded with status {0}")]
    Status(ureq::http::StatusCode),
    /// The collector refused some of the points.
    #[error("the collector rejected {0} of the points: {1}")]
    Refused(i64, String),
}

impl Collector {
    /// Returns the collector at a URL. `http://` may be left out; the path is `/v1/metrics` if there is none.
    ///
    /// # Errors
    /// If the text is not an `http` URL.
    pub fn parse(url: &str) -> Result<Self, CollectorError> {
        let url = if url.contains("://") { url.to_owned() } else { format!("http://{url}") };
        let parsed: Uri = url.parse().map_err(|_| CollectorError::Url)?;
        match (parsed.scheme_str(), parsed.host()) {
            (Some("http"), Some(host)) if !host.is_empty() => {}
            (Some("http") | None, _) => return Err(CollectorError::Url),
            (Some(_), _) => return Err(CollectorError::Scheme),
        }
        let mut parts = parsed.into_parts();
        if parts.path_and_query.as_ref().is_none_or(|path| path == "/") {
            parts.path_and_query = Some("/v1/metrics".parse().expect("a constant that is a path"));
        }
        let url = Uri::from_parts(parts).map_err(|_| CollectorError::Url)?;
        Ok(Self { url, headers: Vec::new() })
    }

    /// Adds headers in the form of `OTEL_EXPORTER_OTLP_HEADERS`: `name=value,name=value`, values percent-encoded.
    ///
    /// # Errors
    /// If a field is malformed.
    pub fn with_headers(mut self, text: &str) -> Result<Self, CollectorError> {
        for (at, pair) in text.split(',').map(str::trim).filter(|pair| !pair.is_empty()).enumerate() {
            let header = || {
                let (name, value) = pair.split_once('=')?;
                let value = percent_decode_str(value.trim()).decode_utf8().ok()?;
                Some((name.trim().parse().ok()?, HeaderValue::from_str(&value).ok()?))
            };
            self.headers.push(header().ok_or_else(|| CollectorError::Headers(at + 1))?);
        }
        Ok(self)
    }

    /// Returns the URL without user and password.
    pub fn url(&self) -> String {
        redact::url(&self.url.to_string()).into_owned()
    }

    /// Sends the metrics once.
    ///
    /// # Errors
    /// If the collector did not accept all of them.
    pub fn send(&self, run: &Measurement) -> Result<(), SendError> {
        let agent: Agent = Agent::config_builder()
            .timeout_global(Some(TIMEOUT))
            .max_redirects(0)
            .http_status_as_error(false)
            .user_agent(concat!("torr/", env!("CARGO_PKG_VERSION")))
            .build()
            .into();
        let mut request = agent.post(&self.url).header("Content-Type", "application/x-protobuf");
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        let mut response = request.send(&metrics(run).encode_to_vec()[..])?;
        if !response.status().is_success() {
            return Err(SendError::Status(response.status()));
        }
        // A successful response may be empty, or in another format.
        let body = response.body_mut().with_config().limit(MAX_RESPONSE).read_to_vec().unwrap_or_default();
        match ExportMetricsServiceResponse::decode(&body[..]).ok().and_then(|response| response.partial_success) {
            Some(part) if part.rejected_data_points > 0 => {
                Err(SendError::Refused(part.rejected_data_points, redact::line(&part.error_message)))
            }
            _ => Ok(()),
        }
    }
}

/// Returns all metrics of a run.
pub fn metrics(run: &Measurement) -> ExportMetricsServiceRequest {
    let result = &run.result;
    let points = Points::new(result);
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
        histogram(
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_parts_of_a_url_are_added() {
        for (given, meant) in [
            ("localhost:4318", "http://localhost:4318/v1/metrics"),
            ("http://localhost:4318/", "http://localhost:4318/v1/metrics"),
            ("http://[::1]:9/of/mine?a=b", "http://[::1]:9/of/mine?a=b"),
        ] {
            assert_eq!(Collector::parse(given).expect(given).url(), meant);
        }
        for (bad, why) in [
            ("https://x/", CollectorError::Scheme),
            ("ftp://x/", CollectorError::Scheme),
            ("", CollectorError::Url),
            ("http://", CollectorError::Url),
            ("http://a b/", CollectorError::Url),
            ("/v1/metrics", CollectorError::Url),
        ] {
            assert_eq!(Collector::parse(bad).map(|c| c.url()), Err(why), "{bad}");
        }
    }

    #[test]
    fn headers_are_read_as_the_variable_has_them() {
        let collector = Collector::parse("x").expect("a host").with_headers("api-key=a%20b, x = y=z ,").expect("two");
        let headers: Vec<_> = collector.headers.iter().map(|(n, v)| (n.as_str(), v.as_bytes())).collect();
        assert_eq!(headers, [("api-key", &b"a b"[..]), ("x", b"y=z")]);
        for bad in ["name", "a b=c", "a=%0a"] {
            let refused = Collector::parse("x").expect("a host").with_headers(bad);
            assert!(matches!(refused, Err(CollectorError::Headers(_))), "{bad}");
        }
    }
}
