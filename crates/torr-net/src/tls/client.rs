//! The client's side of TLS connections: ciphertext in and out of the caller's buffers.

use super::TlsError;
use super::explain::{self, CERTIFICATE_REQUIRED};
use super::records::{NegotiatedTls, Records, Side};
use super::tickets::{note_arrival, note_chain};
use super::unmet_request::UnmetRequest;
use rustls::client::{ClientConnectionData, UnbufferedClientConnection};
use rustls::pki_types::ServerName;
use rustls::unbuffered::UnbufferedStatus;
use rustls::{ClientConfig, CommonState};
use std::sync::Arc;

/// A TLS client, which opens connections to one server, one after another.
pub struct TlsClient {
    config: Arc<ClientConfig>,
    name: ServerName<'static>,
    records: Option<Records<UnbufferedClientConnection>>,
    /// The number of bytes that the handshake of the current connection has received.
    handshake: usize,
    /// Whether the server has to select one of the offered protocols.
    needs_alpn: bool,
    /// The server's request for a certificate, which this client does not have.
    unmet_request: Arc<UnmetRequest>,
}

impl std::fmt::Debug for TlsClient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TlsClient").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Side for UnbufferedClientConnection {
    type Data = ClientConnectionData;
    // Sixteen tickets of the greatest length. Some servers send all tickets in one flight.
    const LARGEST_FLIGHT: usize = 1024 * 1024;
    const KEEPS_ROOM: bool = true;

    #[inline]
    fn step<'c, 'i>(&'c mut self, input: &'i mut [u8]) -> UnbufferedStatus<'c, 'i, Self::Data> {
        self.process_tls_records(input)
    }

    fn common(&self) -> &CommonState {
        self
    }

    #[cold]
    fn error(error: rustls::Error) -> TlsError {
        explain::to_client(error)
    }
}

impl TlsClient {
    /// Creates a client with these settings, which shares the sessions for resumption.
    pub fn with_shared_sessions(&self) -> Self {
        let unmet_request = Arc::clone(&self.unmet_request);
        Self::new(Arc::clone(&self.config), self.name.clone(), self.needs_alpn, unmet_request)
    }

    pub(super) fn new(
        config: Arc<ClientConfig>,
        name: ServerName<'static>,
        needs_alpn: bool,
        unmet_request: Arc<UnmetRequest>,
    ) -> Self {
        Self { config, name, records: None, handshake: 0, needs_alpn, unmet_request }
    }

    /// Starts the handshake of a new connection, and appends the ClientHello to `out`.
    ///
    /// # Errors
    /// Returns the errors of `rustls`, such as for a configuration that it rejects.
    pub fn open(&mut self, out: &mut Vec<u8>) -> Result<(), TlsError> {
        let connection = UnbufferedClientConnection::new(Arc::clone(&self.config), self.name.clone())?;
        self.handshake = 0;
        self.records.insert(Records::new(connection)).process(&mut [], out, &mut Vec::new())?;
        Ok(())
    }

    /// Returns whether the handshake is incomplete.
    #[inline]
    pub fn is_handshaking(&self) -> bool {
        self.records.as_ref().is_none_or(Records::is_handshaking)
    }

    /// Returns whether the server has sent `close_notify`, so that the stream is not truncated.
    pub fn is_closed(&self) -> bool {
        self.records.as_ref().is_some_and(Records::is_closed)
    }

    /// Returns the negotiated parameters; `None` before the handshake is complete.
    pub fn negotiated(&self) -> Option<NegotiatedTls> {
        self.records.as_ref()?.negotiated()
    }

    /// Returns the server's certificate chain in DER, its own certificate first.
    pub fn server_certificates(&self) -> impl Iterator<Item = &[u8]> {
        self.records.iter().flat_map(Records::certificates)
    }

    /// Decrypts ciphertext within `input`. Plaintext is appended to `plain`, and records to send to `out`.
    ///
    /// # Errors
    /// If the server violates TLS or is not trusted. `out` should still be sent, since it holds the alert.
    pub fn receive(&mut self, input: &mut [u8], out: &mut Vec<u8>, plain: &mut Vec<u8>) -> Result<(), TlsError> {
        let Some(records) = &mut self.records else { return Ok(()) };
        let was_handshaking = records.is_handshaking();
        if was_handshaking {
            self.handshake += input.len();
        }
        note_arrival(input.len() + records.incomplete(), self.handshake);
        if let Err(error) = records.receive(input, out, plain) {
            return Err(self.explained(error));
        }
        if !was_handshaking || records.is_handshaking() {
            return Ok(());
        }
        note_chain(records.certificates());
        if self.needs_alpn && records.protocol().is_none() {
            return Err(explain::no_protocol(&self.config.alpn_protocols));
        }
        Ok(())
    }

    /// Returns an error with what the settings and the server's messages say of it.
    #[cold]
    fn explained(&self, error: TlsError) -> TlsError {
        match error {
            TlsError::Alpn(_) => explain::no_protocol(&self.config.alpn_protocols),
            // Before TLS 1.3 there is no alert of its own for a missing certificate.
            TlsError::Refused(_) if self.unmet_request.was_seen() => TlsError::Protocol(CERTIFICATE_REQUIRED.into()),
            error => error,
        }
    }

    /// Returns the protocol that the server has selected (ALPN).
    pub fn protocol(&self) -> Option<&[u8]> {
        self.records.as_ref()?.protocol()
    }

    /// Encrypts `plain`, and appends the records to `out`.
    ///
    /// # Errors
    /// If the handshake is incomplete, or the connection's keys are exhausted.
    pub fn send(&mut self, plain: &[u8], out: &mut Vec<u8>) -> Result<(), TlsError> {
        match &mut self.records {
            Some(records) => records.send(plain, out),
            None => Err(TlsError::Protocol("not connected".into())),
        }
    }

    /// Appends the alert `close_notify` to `out`, if the handshake is complete. The server's bytes can still be received.
    ///
    /// With debug assertions, [`TlsClient::receive`] panics after this call if the server violates TLS: `rustls` 0.23 then
    /// sends an alert after its `close_notify`, against its own assertion.
    pub fn close_notify(&mut self, out: &mut Vec<u8>) {
        if let Some(records) = &mut self.records {
            records.close_notify(out);
        }
    }
}
