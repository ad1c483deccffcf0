//! The failures of connections and streams.

use crate::failures;
use torr_gauge::{Failure, FailureKind, FailureSide};
use torr_net::quic::QuicError;
use torr_wire::http3::ErrorCode;

/// Returns the failure of bytes that are not valid HTTP/3.
pub fn malformed(what: &'static str) -> Failure {
    Failure::new(FailureKind::Protocol, FailureSide::Server, what)
}

/// Returns the failure of a request whose stream the server has given up.
pub fn reset(code: u64) -> Failure {
    let what = format!("the server reset the stream: {}", ErrorCode(code));
    Failure::new(FailureKind::Read, FailureSide::Server, what)
}

/// Returns the failure of a connection to a server that allows no unidirectional stream.
pub fn no_control_stream() -> Failure {
    malformed("the server allows no control stream")
}

/// Returns the failure of a connection that the server has ended with requests on it.
pub fn gone_away() -> Failure {
    let what = "the server is going away (GOAWAY) and has not processed the request";
    Failure::new(FailureKind::Read, FailureSide::Server, what)
}

/// Returns the failure of a connection that has ended. `is_ready` tells whether its handshake was complete.
#[cold]
pub fn lost(error: QuicError, is_ready: bool) -> Failure {
    let what = match error {
        QuicError::Tls(error) => return failures::tls(error),
        QuicError::Application(code) => format!("the server closed the connection: {}", ErrorCode(code)),
        error => error.to_string(),
    };
    let kind = match is_ready {
        true => FailureKind::Read,
        false => FailureKind::Connect,
    };
    Failure::new(kind, FailureSide::Server, what)
}
