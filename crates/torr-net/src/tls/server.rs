//! The server's side of a TLS connection: ciphertext in and out of the caller's buffers.

use super::TlsError;
use super::explain;
use super::identities::with_server_name;
use super::records::{NegotiatedTls, Records, Side};
use rustls::server::{ServerConnectionData, UnbufferedServerConnection};
use rustls::unbuffered::UnbufferedStatus;
use rustls::{CommonState, ServerConfig};
use std::sync::Arc;

/// The TLS state of one accepted connection.
pub struct TlsServer {
    records: Records<UnbufferedServerConnection>,
    /// The server name that the client has sent (SNI).
    name: Option<Box<str>>,
    /// Whether `close_notify` was sent.
    has_ended: bool,
}

impl std::fmt::Debug for TlsServer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TlsServer").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Side for UnbufferedServerConnection {
    type Data = ServerConnectionData;
    // A certificate's message may have 64 KiB, and come in many small records.
    const LARGEST_FLIGHT: usize = 128 * 1024;
    const KEEPS_ROOM: bool = false;

    #[inline]
    fn step<'c, 'i>(&'c mut self, input: &'i mut [u8]) -> UnbufferedStatus<'c, 'i, Self::Data> {
        self.process_tls_records(input)
    }

    fn common(&self) -> &CommonState {
        self
    }

    #[cold]
    fn error(error: rustls::Error) -> TlsError {
        explain::to_server(error)
    }
}

impl TlsServer {
    pub(super) fn new(config: Arc<ServerConfig>) -> Result<Self, TlsError> {
        Ok(Self { records: Records::new(UnbufferedServerConnection::new(config)?), name: None, has_ended: false })
    }

    /// Decrypts ciphertext within `input`. Plaintext is appended to `plain`, and records to send to `out`.
    ///
    /// # Errors
    /// If the client violates TLS or is not accepted, after which the connection cannot be used. `out` should still be
    /// sent, since it holds the alert.
    #[inline]
    pub fn receive(&mut self, input: &mut [u8], out: &mut Vec<u8>, plain: &mut Vec<u8>) -> Result<(), TlsError> {
        if self.has_ended {
            return Ok(());
        }
        if !self.records.is_handshaking() {
            return self.records.receive(input, out, plain);
        }
        let (result, name) = with_server_name(|| self.records.receive(input, out, plain));
        if name.is_some() {
            self.name = name;
        }
        result
    }

    /// Encrypts `plain`, and appends the records to `out`.
    ///
    /// # Errors
    /// If the handshake is incomplete, `close_notify` was sent, or the connection's keys are exhausted.
    #[inline]
    pub fn send(&mut self, plain: &[u8], out: &mut Vec<u8>) -> Result<(), TlsError> {
        if self.has_ended {
            return Err(TlsError::Protocol("the connection is closed".into()));
        }
        self.records.send(plain, out)
    }

    /// Appends the alert `close_notify` to `out`, if the handshake is complete. Later bytes cannot be sent, and received ones
    /// are ignored.
    pub fn close_notify(&mut self, out: &mut Vec<u8>) {
        if !self.has_ended {
            self.has_ended = true;
            self.records.close_notify(out);
        }
    }

    /// Returns whether the handshake is incomplete.
    #[inline]
    pub fn is_handshaking(&self) -> bool {
        self.records.is_handshaking()
    }

    /// Returns whether the client has sent `close_notify`, so that the stream is not truncated. Responses can still be sent.
    #[inline]
    pub fn is_closed(&self) -> bool {
        self.records.is_closed()
    }

    /// Returns the negotiated protocol (ALPN), `None` if the client offered none.
    pub fn protocol(&self) -> Option<&[u8]> {
        self.records.protocol()
    }

    /// Returns the server name that the client has sent (SNI), in lower case.
    pub fn server_name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Returns the negotiated parameters; `None` before the handshake is complete.
    pub fn negotiated(&self) -> Option<NegotiatedTls> {
        self.records.negotiated()
    }

    /// Returns the client's certificate chain in DER, its own certificate first; empty if none was requested.
    pub fn client_certificates(&self) -> impl Iterator<Item = &[u8]> {
        self.records.certificates()
    }
}
