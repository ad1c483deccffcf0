//! WebSocket connections in words.

use crate::human::{count, plural};
use torr_gauge::websocket::WebSockets;

/// Returns what servers sent without a request, on how many connections messages are compressed where that was offered, and how
/// servers closed connections; `None` if there is nothing of these where messages are events of streams.
pub(crate) fn line(websocket: &WebSockets, are_events: bool) -> Option<String> {
    let closed = websocket.closed.iter().map(|(code, n)| match code {
        1005 => format!("connections closed without a code: {}", count(*n)),
        1006 => format!("connections closed without a close frame: {}", count(*n)),
        code => format!("connections closed with {code}: {}", count(*n)),
    });
    let pushed = (!are_events).then(|| format!("{} pushed by the server", plural(websocket.pushed, "message")));
    let pings = (websocket.pings > 0).then(|| plural(websocket.pings, "ping"));
    let compressed = websocket.compressed.map(|n| format!("compressed connections: {}", count(n)));
    let parts: Vec<_> = pushed.into_iter().chain(pings).chain(compressed).chain(closed).collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closes_are_named_by_their_codes() {
        let closed = [(1001, 3), (1005, 1), (1006, 12)].into();
        let websocket = WebSockets { handshake_us: None, pushed: 1, pings: 2000, compressed: Some(3), closed };
        assert_eq!(
            line(&websocket, false).as_deref(),
            Some(
                "1 message pushed by the server, 2,000 pings, compressed connections: 3, connections closed with 1001: 3, \
                 connections closed without a code: 1, connections closed without a close frame: 12"
            )
        );
        let quiet = WebSockets { handshake_us: None, pushed: 0, pings: 0, compressed: None, closed: [].into() };
        assert_eq!(line(&quiet, false).as_deref(), Some("0 messages pushed by the server"));
        assert_eq!(line(&quiet, true), None);
    }
}
