//! Failures with kind and side, from errors of the system and the protocols.

use std::io::{self, ErrorKind};
use std::time::Duration;
use torr_gauge::numbers::seconds;
use torr_gauge::{Failure, FailureKind, FailureSide};
use torr_net::errors::describe;
use torr_net::tls::TlsError;
use torr_wire::WireError;

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

pub(crate) fn no_response_within(timeout: Duration) -> Failure {
    let what = format!("no complete response within {}", seconds(timeout.as_secs_f64()));
    Failure::new(FailureKind::Timeout, FailureSide::Server, what)
}
