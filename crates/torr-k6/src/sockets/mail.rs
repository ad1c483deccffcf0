//! What virtual users learn of their sockets.

use super::events::StreamEvent;
use super::grpc::GrpcEvent;
use super::response::Response;
use std::time::Duration;
use torr_wire::websocket::{Kind, code};

/// An event of one socket.
#[derive(Debug)]
pub struct Mail {
    /// The number of the socket, of the call, or of the event stream.
    pub socket: u64,
    /// The event.
    pub event: Event,
}

/// An event.
#[derive(Debug)]
pub enum Event {
    /// Of a WebSocket.
    Socket(SocketEvent),
    /// Of a connection of gRPC, or of one of its calls.
    Grpc(GrpcEvent),
    /// Of an event stream.
    Stream(StreamEvent),
}

impl From<SocketEvent> for Event {
    fn from(event: SocketEvent) -> Self {
        Self::Socket(event)
    }
}

impl From<GrpcEvent> for Event {
    fn from(event: GrpcEvent) -> Self {
        Self::Grpc(event)
    }
}

impl From<StreamEvent> for Event {
    fn from(event: StreamEvent) -> Self {
        Self::Stream(event)
    }
}

/// An event of a socket. The last one is [`Refused`](SocketEvent::Refused) or [`Closed`](SocketEvent::Closed).
#[derive(Debug)]
pub enum SocketEvent {
    /// The handshake is complete.
    Opened(Response),
    /// The socket does not open. The server's response says why, or the text does.
    Refused {
        /// The time from the call to the failure.
        took: Duration,
        /// The response, if there is one.
        response: Option<Response>,
        /// The reason; empty where the response is the reason.
        why: String,
    },
    /// A message has arrived.
    Message(Kind, Vec<u8>),
    /// A ping has arrived, which is answered.
    Ping,
    /// A pong has arrived, with the time since the ping that it follows, if there is one.
    Pong(Option<Duration>),
    /// The connection has ended.
    Closed(Close),
}

/// The end of a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Close {
    /// The code (RFC 6455, section 7.4).
    pub code: u16,
    /// The reason that the other side gives.
    pub reason: String,
    /// The text of the error, unless the end is a normal one.
    pub error: Option<String>,
}

impl Close {
    /// Returns the end by a close frame with this code and reason.
    #[must_use]
    pub fn by_frame(code: Option<u16>, reason: String) -> Self {
        let code = code.unwrap_or(code::NONE);
        let is_normal = matches!(code, code::NORMAL | code::GOING_AWAY);
        let error = (!is_normal).then(|| text(code, &reason));
        Self { code, reason, error }
    }

    /// Returns the end of a connection that was lost.
    #[must_use]
    pub fn lost(why: &str) -> Self {
        Self { code: code::ABNORMAL, reason: why.to_owned(), error: Some(text(code::ABNORMAL, why)) }
    }

    /// Returns the end of a connection whose server has violated the protocol.
    #[must_use]
    pub fn violated(why: &str) -> Self {
        Self { code: code::GOING_AWAY, reason: String::new(), error: Some(format!("websocket: {why}")) }
    }
}

/// Returns an end as scripts see it in errors: with the name of a registered code, and the reason.
fn text(code: u16, reason: &str) -> String {
    let name = match code {
        code::NORMAL => " (normal)",
        code::GOING_AWAY => " (going away)",
        code::PROTOCOL_ERROR => " (protocol error)",
        1003 => " (unsupported data)",
        code::NONE => " (no status)",
        code::ABNORMAL => " (abnormal closure)",
        code::INVALID_PAYLOAD => " (invalid payload data)",
        code::POLICY => " (policy violation)",
        code::TOO_LARGE => " (message too big)",
        1010 => " (mandatory extension missing)",
        1011 => " (internal server error)",
        1015 => " (TLS handshake error)",
        _ => "",
    };
    let colon = if reason.is_empty() { "" } else { ": " };
    format!("websocket: close {code}{name}{colon}{reason}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_are_errors_unless_they_are_normal() {
        assert_eq!(Close::by_frame(Some(1000), "done".into()).error, None);
        assert_eq!(Close::by_frame(Some(1001), String::new()).error, None);
        let own = Close::by_frame(Some(4000), "why".into());
        assert_eq!((own.code, own.error.as_deref()), (4000, Some("websocket: close 4000: why")));
        assert_eq!(Close::by_frame(None, String::new()).error.as_deref(), Some("websocket: close 1005 (no status)"));
        let lost = Close::lost("unexpected EOF");
        let expected = "websocket: close 1006 (abnormal closure): unexpected EOF";
        assert_eq!((lost.code, lost.error.as_deref()), (1006, Some(expected)));
    }
}
