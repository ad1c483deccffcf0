//! One client's TLS connections, one after another: ciphertext in and out of the caller's buffers.

use super::TlsError;
use super::explain;
use super::records::{NegotiatedTls, Records, Side};
use rustls::client::{ClientConnectionData, UnbufferedClientConnection};
use rustls::pki_types::ServerName;
use rustls::unbuffered::UnbufferedStatus;
use rustls::{ClientConfig, CommonState};
use std::sync::Arc;

/// The client's side of a connection.
pub struct TlsClient {
    config: Arc<ClientConfig>,
    name: ServerName<'static>,
    records: Option<Records<UnbufferedClientConnection>>,
    /// Whether the server has to take one of the protocols that are offered.
    needs_alpn: bool,
}

impl std::fmt::Debug for TlsClient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TlsClient").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Side for UnbufferedClientConnection {
    type Data = ClientConnectionData;
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
    /// Another client of the same settings, which shares its sessions.
    pub fn with_shared_sessions(&self) -> Self {
        Self::new(Arc::clone(&self.config), self.name.clone(), self.needs_alpn)
    }

    pub(super) fn new(config: Arc<ClientConfig>, name: ServerName<'static>, needs_alpn: bool) -> Self {
        Self { config, name, records: None, needs_alpn }
    }

    /// Begins a new connection; its first words go to `out`.
    ///
    /// # Errors
    /// As the TLS library.
    pub fn open(&mut self, out: &mut Vec<u8>) -> Result<(), TlsError> {
        let connection = UnbufferedClientConnection::new(Arc::clone(&self.config), self.name.clone())?;
        self.records.insert(Records::new(connection)).process(&mut [], out, &mut Vec::new())?;
        Ok(())
    }

    /// Whether the handshake is still under way.
    #[inline]
    pub fn is_handshaking(&self) -> bool {
        self.records.as_ref().is_none_or(Records::is_handshaking)
    }

    /// Whether the server has ended its side as TLS asks for, so that nothing can have been cut off.
    pub fn is_closed(&self) -> bool {
        self.records.as_ref().is_some_and(Records::is_closed)
    }

    /// How the connection was secured, once it was.
    pub fn negotiated(&self) -> Option<NegotiatedTls> {
        self.records.as_ref()?.negotiated()
    }

    /// The certificates that the server has shown, its own first, in DER.
    pub fn server_certificates(&self) -> impl Iterator<Item = &[u8]> {
        self.records.iter().flat_map(Records::certificates)
    }

    /// Takes ciphertext, which is decrypted in place. Plaintext is added to `plain`, and what is to be said in return to
    /// `out`.
    ///
    /// # Errors
    /// As the TLS library. What is in `out` should still be sent: it tells the server why.
    pub fn receive(&mut self, input: &mut [u8], out: &mut Vec<u8>, plain: &mut Vec<u8>) -> Result<(), TlsError> {
        let Some(records) = &mut self.records else { return Ok(()) };
        let was_handshaking = records.is_handshaking();
        records.receive(input, out, plain)?;
        if was_handshaking && !records.is_handshaking() && self.needs_alpn && records.protocol().is_none() {
            let offered = self.config.alpn_protocols.iter().map(|protocol| String::from_utf8_lossy(protocol));
            return Err(TlsError::Alpn(offered.collect::<Vec<_>>().join(" or ")));
        }
        Ok(())
    }

    /// The protocol that the server has taken (ALPN).
    pub fn protocol(&self) -> Option<&[u8]> {
        self.records.as_ref()?.protocol()
    }

    /// Encrypts `plain` onto the end of `out`.
    ///
    /// # Errors
    /// If the handshake is not complete, or the connection's keys are used up.
    pub fn send(&mut self, plain: &[u8], out: &mut Vec<u8>) -> Result<(), TlsError> {
        match &mut self.records {
            Some(records) => records.send(plain, out),
            None => Err(TlsError::Protocol("there is no connection".into())),
        }
    }

    /// Tells the server that nothing more will come, if the handshake is complete. What the server still sends can be received.
    ///
    /// Where debug assertions are on, [`TlsClient::receive`] panics behind it if the server breaks the rules of TLS: `rustls` 0.23
    /// then sends an alert after its `close_notify`, which it asserts that it does not.
    pub fn close_notify(&mut self, out: &mut Vec<u8>) {
        if let Some(records) = &mut self.records {
            records.close_notify(out);
        }
    }
}
