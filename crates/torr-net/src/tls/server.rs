//! The server's side of one TLS connection: ciphertext in and out of the caller's buffers.

use super::TlsError;
use super::explain;
use super::identities::hearing_names;
use super::records::{NegotiatedTls, Records, Side};
use rustls::server::{ServerConnectionData, UnbufferedServerConnection};
use rustls::unbuffered::UnbufferedStatus;
use rustls::{CommonState, ServerConfig};
use std::sync::Arc;

/// The server's side of one connection.
pub struct TlsServer {
    records: Records<UnbufferedServerConnection>,
    /// The server that the client has asked for.
    name: Option<Box<str>>,
    has_ended: bool,
}

impl std::fmt::Debug for TlsServer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TlsServer").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Side for UnbufferedServerConnection {
    type Data = ServerConnectionData;
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

    /// Takes ciphertext, which is decrypted in place. Plaintext is added to `plain`, and what is to be said in return to
    /// `out`.
    ///
    /// # Errors
    /// If the client breaks the rules or is not to be let in. What is in `out` should still be sent: it tells the client
    /// why. The connection is of no use any more.
    #[inline]
    pub fn receive(&mut self, input: &mut [u8], out: &mut Vec<u8>, plain: &mut Vec<u8>) -> Result<(), TlsError> {
        if self.has_ended {
            return Ok(());
        }
        if !self.records.is_handshaking() {
            return self.records.receive(input, out, plain);
        }
        let (result, name) = hearing_names(|| self.records.receive(input, out, plain));
        if name.is_some() {
            self.name = name;
        }
        result
    }

    /// Encrypts `plain` onto the end of `out`.
    ///
    /// # Errors
    /// If the handshake is not complete, the connection has ended, or its keys are used up.
    #[inline]
    pub fn send(&mut self, plain: &[u8], out: &mut Vec<u8>) -> Result<(), TlsError> {
        if self.has_ended {
            return Err(TlsError::Protocol("the connection has ended".into()));
        }
        self.records.send(plain, out)
    }

    /// Tells the client that nothing more will come (`close_notify`), if the handshake is complete. Nothing can be sent
    /// after it, and what is received is not looked at.
    pub fn close_notify(&mut self, out: &mut Vec<u8>) {
        if !self.has_ended {
            self.has_ended = true;
            self.records.close_notify(out);
        }
    }

    /// Whether the handshake is still under way.
    #[inline]
    pub fn is_handshaking(&self) -> bool {
        self.records.is_handshaking()
    }

    /// Whether the client has ended its side as TLS asks for, so that nothing can have been cut off. It may still be
    /// answered.
    #[inline]
    pub fn is_closed(&self) -> bool {
        self.records.is_closed()
    }

    /// The protocol that was agreed on (ALPN), if the client has offered any.
    pub fn protocol(&self) -> Option<&[u8]> {
        self.records.protocol()
    }

    /// The server that the client has asked for (SNI), in lower case.
    pub fn server_name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// How the connection was secured, once it was.
    pub fn negotiated(&self) -> Option<NegotiatedTls> {
        self.records.negotiated()
    }

    /// The certificates that the client has shown, its own first, in DER. Nothing if it was not asked for any.
    pub fn client_certificates(&self) -> impl Iterator<Item = &[u8]> {
        self.records.certificates()
    }
}
