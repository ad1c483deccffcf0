//! Failures with kind and side, from errors of the system and the protocols.

use std::io::{self, ErrorKind};
use std::time::Duration;
use torr_gauge::numbers::seconds;
use torr_gauge::{Failure, FailureKind, FailureSide};
use torr_net::errors::describe;
use torr_net::tls::TlsError;
use torr_wire::WireError;
use torr_wire::websocket::{FrameError, HandshakeError, code};

/// Why no connection came about.
pub(crate) fn connect(error: &io::Error) -> Failure {
    let (kind, side) = match error.kind() {
        ErrorKind::AddrNotAvailable | ErrorKind::AddrInUse => {
            return Failure::new(FailureKind::Ports, FailureSide::Client, "no local port is free");
        }
        ErrorKind::NotFound => {
            return Failure::new(FailureKind::Connect, FailureSide::Client, "no such socket");
        }
        ErrorKind::WouldBlock => {
            return Failure::new(FailureKind::Connect, FailureSide::Server, "the server's accept queue overflowed");
        }
        ErrorKind::ConnectionRefused | ErrorKind::ConnectionReset => (FailureKind::Connect, FailureSide::Server),
        ErrorKind::TimedOut | ErrorKind::HostUnreachable | ErrorKind::NetworkUnreachable => {
            (FailureKind::Connect, FailureSide::Network)
        }
        _ => (FailureKind::Connect, FailureSide::Client),
    };
    Failure::new(kind, side, describe(error))
}

/// Whether the server refused the connection.
pub(crate) fn is_refused(failure: &Failure) -> bool {
    failure.what == describe(&ErrorKind::ConnectionRefused.into())
}

/// Why receiving or sending failed.
pub(crate) fn transfer(kind: FailureKind, error: &io::Error) -> Failure {
    let side = match error.kind() {
        ErrorKind::ConnectionReset | ErrorKind::ConnectionAborted | ErrorKind::BrokenPipe => FailureSide::Server,
        _ => FailureSide::Network,
    };
    Failure::new(kind, side, describe(error))
}

/// Why datagrams could not be sent or received on a connection that was ready for requests.
pub(crate) fn datagrams(error: &io::Error) -> Failure {
    match error.kind() {
        ErrorKind::ConnectionRefused => {
            let what = "the server does not listen on this UDP port any more";
            Failure::new(FailureKind::Read, FailureSide::Server, what)
        }
        _ => transfer(FailureKind::Read, error),
    }
}

/// Returns the failure of a malformed response.
pub(crate) fn protocol(error: WireError) -> Failure {
    match error {
        WireError::Truncated => Failure::new(
            FailureKind::Read,
            FailureSide::Server,
            "the server closed the connection in the middle of a response",
        ),
        error => Failure::new(FailureKind::Protocol, FailureSide::Server, error.to_string()),
    }
}

pub(crate) fn closed_unanswered() -> Failure {
    Failure::new(FailureKind::Read, FailureSide::Server, "the server closed the connection before responding")
}

/// Returns the failure of TLS. Both sides have a part in it; it counts as the server's.
pub(crate) fn tls(error: TlsError) -> Failure {
    Failure::new(FailureKind::Tls, FailureSide::Server, error.to_string())
}

/// The first bytes of a TLS server that has received something else: the header of an alert (RFC 8446, section 5.1).
const TLS_ALERT: &[u8] = &[21, 3];

/// Returns the failure of a request in plain text to a server that speaks TLS, if these are a server's first bytes.
pub(crate) fn plain_to_tls(first_bytes: &[u8]) -> Option<Failure> {
    let what = "the server uses TLS on this port: use https:// instead of http://";
    first_bytes.starts_with(TLS_ALERT).then(|| Failure::new(FailureKind::Protocol, FailureSide::Server, what))
}

/// The type, the flags and the stream of a `SETTINGS` frame, with which a server of HTTP/2 begins (RFC 9113, section 3.4). Its length
/// precedes them.
const HTTP2_SETTINGS: &[u8] = &[4, 0, 0, 0, 0, 0];

/// Returns the failure of a request in HTTP/1.1 to a server that speaks only HTTP/2, if these are a server's first bytes.
pub(crate) fn http1_to_http2(first_bytes: &[u8]) -> Option<Failure> {
    let what = "the server supports HTTP/2 only: use --http2-prior-knowledge";
    let is_http2 = matches!(first_bytes, [0, _, _, rest @ ..] if rest.starts_with(HTTP2_SETTINGS));
    is_http2.then(|| Failure::new(FailureKind::Protocol, FailureSide::Server, what))
}

/// The server ended the connection without saying so in TLS: something may have been cut off.
pub(crate) fn cut_off() -> Failure {
    Failure::new(
        FailureKind::Read,
        FailureSide::Server,
        "the server closed the connection without TLS's close_notify: the response may be incomplete",
    )
}

/// Returns the failure of a request that met the close of an idle connection.
pub(crate) fn closed_idle(kind: FailureKind) -> Failure {
    Failure::new(kind, FailureSide::Server, "the server closed the idle connection")
}

pub(crate) fn closed_unready() -> Failure {
    Failure::new(
        FailureKind::Connect,
        FailureSide::Server,
        "the server closed the connection before it was ready for requests",
    )
}

/// A proxy does not connect further.
pub(crate) fn no_tunnel(status: u16) -> Failure {
    Failure::new(FailureKind::Connect, FailureSide::Network, format!("the proxy responded with status {status}"))
}

pub(crate) fn surplus() -> Failure {
    Failure::new(FailureKind::Protocol, FailureSide::Server, "more bytes than the response announced")
}

pub(crate) fn no_connection_within(timeout: Duration) -> Failure {
    let what = format!("no connection within {}", seconds(timeout.as_secs_f64()));
    Failure::new(FailureKind::Timeout, FailureSide::Network, what)
}

/// Returns the failure of an event stream that is read as one response, and does not end.
pub(crate) fn endless_stream(timeout: Duration) -> Failure {
    let what =
        format!("no complete response within {}: it is an event stream, use --sse", seconds(timeout.as_secs_f64()));
    Failure::new(FailureKind::Timeout, FailureSide::Server, what)
}

/// Returns the failure of a stream without an event for the time of the plan.
pub(crate) fn no_event_within(timeout: Duration) -> Failure {
    let what = format!("no event within {}", seconds(timeout.as_secs_f64()));
    Failure::new(FailureKind::Timeout, FailureSide::Server, what)
}

/// Returns the failure of a response that should be an event stream and is none.
pub(crate) fn no_event_stream(status: u16, media_type: &[u8]) -> Failure {
    let what = match media_type {
        _ if status != 200 => format!("no event stream: its status is {status}, not 200"),
        b"" => "no event stream: it has no Content-Type".to_owned(),
        media_type => format!("no event stream: its Content-Type is {}", String::from_utf8_lossy(media_type)),
    };
    Failure::new(FailureKind::Protocol, FailureSide::Server, what)
}

/// Returns the failure of an event stream in a coding that is not decoded.
pub(crate) fn unknown_coding(coding: &[u8]) -> Failure {
    let what =
        format!("the event stream has Content-Encoding {}, which is not supported", String::from_utf8_lossy(coding));
    Failure::new(FailureKind::Protocol, FailureSide::Server, what)
}

/// Returns the failure of an event stream whose compressed bytes are malformed.
pub(crate) fn malformed_coding() -> Failure {
    Failure::new(
        FailureKind::Protocol,
        FailureSide::Server,
        "the compressed bytes of the event stream are malformed, or decode to too many",
    )
}

/// Returns the failure of an opening handshake of WebSocket.
pub(crate) fn handshake(error: &HandshakeError) -> Failure {
    let kind = match error {
        HandshakeError::Refused(_) => FailureKind::Connect,
        _ => FailureKind::Protocol,
    };
    Failure::new(kind, FailureSide::Server, error.to_string())
}

/// Returns the failure of malformed frames of WebSocket.
pub(crate) fn frame(error: FrameError) -> Failure {
    Failure::new(FailureKind::Protocol, FailureSide::Server, error.to_string())
}

/// Returns the failure of a text message that is not UTF-8.
pub(crate) fn not_text() -> Failure {
    Failure::new(FailureKind::Protocol, FailureSide::Server, "the server sent a text message that is not UTF-8")
}

/// Returns the failure of a message to be sent that has no value to match its response by.
pub(crate) fn nothing_to_match() -> Failure {
    let what = "the message has no value for --match, so that no response could be found for it";
    Failure::new(FailureKind::Protocol, FailureSide::Client, what)
}

/// Returns the failure of a server that sends so many pings, and nothing else.
pub(crate) fn pings(most: u32) -> Failure {
    let what = format!("the server sent more than {most} pings without a message");
    Failure::new(FailureKind::Protocol, FailureSide::Server, what)
}

/// Returns the failure of a message to which the server responded with a close frame of this code.
pub(crate) fn closed_with(code: u16) -> Failure {
    let code = if code == code::NONE { "without a code".to_owned() } else { format!("with code {code}") };
    let what = format!("the server closed the WebSocket {code} before responding");
    Failure::new(FailureKind::Read, FailureSide::Server, what)
}

/// Returns the failure of a stream of messages that the server ended with a close frame of this code.
pub(crate) fn stream_closed_with(code: u16) -> Failure {
    let what = format!("the server closed the WebSocket with code {code}");
    Failure::new(FailureKind::Read, FailureSide::Server, what)
}

/// Returns the failure of a WebSocket on which more messages have arrived at once than are kept.
pub(crate) fn messages_at_once() -> Failure {
    let what = "the server sent more than 16 MiB of messages at once";
    Failure::new(FailureKind::Protocol, FailureSide::Server, what)
}

/// Returns the failure of a stream of messages that ended without a close frame.
pub(crate) fn stream_closed_without_frame() -> Failure {
    let what = "the server closed the connection without a close frame";
    Failure::new(FailureKind::Read, FailureSide::Server, what)
}

/// Returns the failure of a message when the server ended the connection without a close frame.
pub(crate) fn closed_without_frame() -> Failure {
    let what = "the server closed the connection without a close frame before responding";
    Failure::new(FailureKind::Read, FailureSide::Server, what)
}

/// Returns the failure of a request that no connection was available for, from its due time until the plan's patience ended.
pub(crate) fn abandoned_after(patience: Duration) -> Failure {
    let what = format!("no connection was available within {}", seconds(patience.as_secs_f64()));
    Failure::new(FailureKind::Abandoned, FailureSide::Server, what)
}

pub(crate) fn no_response_within(timeout: Duration) -> Failure {
    let what = format!("no complete response within {}", seconds(timeout.as_secs_f64()));
    Failure::new(FailureKind::Timeout, FailureSide::Server, what)
}
