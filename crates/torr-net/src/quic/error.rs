//! Why a connection of QUIC has ended.

use super::session;
use crate::tls::{TlsError, handshake};
use quinn_proto::ConnectionError;
use rustls::AlertDescription;
use thiserror::Error;

/// The codes of errors that are alerts of TLS (RFC 9001, section 4.8).
const ALERTS: std::ops::RangeInclusive<u64> = 0x100..=0x1ff;

/// The end of a connection.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum QuicError {
    /// The handshake of TLS failed, on either side.
    #[error("{0}")]
    Tls(TlsError),
    /// The application at the other end closed the connection with this code.
    #[error("the server closed the connection with code {0:#x}")]
    Application(u64),
    /// The server's QUIC closed the connection with this error.
    #[error("the server closed the connection: {0}")]
    Closed(String),
    /// The server violated QUIC.
    #[error("the server violated QUIC: {0}")]
    Violation(String),
    /// The server does not know the connection any more, such as after it was started anew.
    #[error("the server reset the connection: it does not know it any more")]
    Reset,
    /// Nothing came from the server for as long as both sides had agreed on.
    #[error("the connection was idle for longer than the server allows")]
    TimedOut,
    /// The server supports no version of QUIC that this side has.
    #[error("the server does not support QUIC version 1")]
    Version,
    /// This side closed the connection.
    #[error("the connection was closed")]
    ClosedHere,
}

impl QuicError {
    /// Translates an error. `tls` is that of the handshake, if it failed on this side.
    #[cold]
    pub(super) fn new(error: ConnectionError, tls: Option<rustls::Error>, client: Option<&session::Client>) -> Self {
        let explained = |error| match client {
            Some(client) => client.explained(error),
            None => handshake::explained_to_server(error),
        };
        match (error, tls) {
            (ConnectionError::TransportError(_), Some(error)) => Self::Tls(explained(error)),
            (ConnectionError::TransportError(error), None) => Self::Violation(error.to_string()),
            (ConnectionError::ConnectionClosed(close), _) => match u64::from(close.error_code) {
                code if ALERTS.contains(&code) => {
                    let alert = AlertDescription::from(code as u8);
                    Self::Tls(explained(rustls::Error::AlertReceived(alert)))
                }
                _ => Self::Closed(close.to_string()),
            },
            (ConnectionError::ApplicationClosed(close), _) => Self::Application(close.error_code.into_inner()),
            (ConnectionError::Reset, _) => Self::Reset,
            (ConnectionError::TimedOut, _) => Self::TimedOut,
            (ConnectionError::VersionMismatch, _) => Self::Version,
            (ConnectionError::LocallyClosed | ConnectionError::CidsExhausted, _) => Self::ClosedHere,
        }
    }
}
