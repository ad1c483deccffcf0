//! The metrics of WebSocket connections.

use super::points::{Points, sum, text};
use opentelemetry_proto::tonic::metrics::v1::Metric;
use torr_gauge::collector::Measurement;

/// Returns the metrics of a run over WebSocket connections, none of another.
pub(super) fn metrics(points: &Points, run: &Measurement) -> Vec<Metric> {
    let (Some(tally), Some(websocket)) = (&run.total.websocket, &run.result.websocket) else { return Vec::new() };
    let closed = websocket.closed.iter().map(|(code, &n)| points.count(n, vec![text("code", &code.to_string())]));
    let closed: Vec<_> = closed.collect();
    let closed = (!closed.is_empty()).then(|| {
        let what = "Connections that the server closed, by the code of its close frame";
        sum("torr.websocket.closed", "{connection}", what, closed)
    });
    let compressed = websocket.compressed.map(|n| {
        let what = "Connections whose messages are compressed";
        sum("torr.websocket.compressed", "{connection}", what, vec![points.count(n, Vec::new())])
    });
    let metrics = vec![
        points.histogram(
            "torr.websocket.handshake",
            "Time of opening handshakes, after those of TCP and TLS",
            vec![points.times(&tally.handshakes, websocket.handshake_us.map(|times| times.min), Vec::new())],
        ),
        sum(
            "torr.websocket.pushed",
            "{message}",
            "Messages that came while no request was in flight",
            vec![points.count(websocket.pushed, Vec::new())],
        ),
        sum("torr.websocket.pings", "{ping}", "Pings of the server", vec![points.count(websocket.pings, Vec::new())]),
    ];
    metrics.into_iter().chain(compressed).chain(closed).collect()
}
