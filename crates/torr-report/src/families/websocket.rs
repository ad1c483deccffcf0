//! The metrics of WebSocket connections.

use super::family::{Family, counter, counters, histograms};
use std::borrow::Cow;
use torr_gauge::collector::Measurement;

/// Returns the metrics of a run over WebSocket connections, none of another.
pub(super) fn families(run: &Measurement) -> Vec<Family<'_>> {
    let (Some(tally), Some(websocket)) = (&run.total.websocket, &run.result.websocket) else { return Vec::new() };
    let compressed = websocket
        .compressed
        .map(|n| counter("torr_websocket_compressed_total", "Connections whose messages are compressed.", n));
    let families = vec![
        histograms(
            "torr_websocket_handshake_seconds",
            "Time of opening handshakes, after those of TCP and TLS.",
            [(Vec::new(), Cow::Borrowed(&tally.handshakes))],
        ),
        counter("torr_websocket_pushed_total", "Messages that came while no request was in flight.", websocket.pushed),
        counter("torr_websocket_pings_total", "Pings of the server.", websocket.pings),
        counters(
            "torr_websocket_closed_total",
            "Connections that the server closed, by the code of its close frame.",
            websocket.closed.iter().map(|(code, &n)| (vec![("code", code.to_string())], n)),
        ),
    ];
    families.into_iter().chain(compressed).collect()
}
