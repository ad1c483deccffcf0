//! One client's TLS connections, one after another: ciphertext in and out of the caller's buffers.

use super::TlsError;
use rustls::client::UnbufferedClientConnection;
use rustls::pki_types::ServerName;
use rustls::unbuffered::{ConnectionState, EncodeError, EncryptError, InsufficientSizeError};
use rustls::{ClientConfig, HandshakeKind};
use std::sync::Arc;

/// The most that a record adds to what it carries: header, content type, nonce and tag.
const RECORD_OVERHEAD: usize = 64;
/// The most that a record carries (RFC 8446, section 5.1).
const RECORD: usize = 16 * 1024;

/// The client's side of a connection.
pub struct TlsClient {
    config: Arc<ClientConfig>,
    name: ServerName<'static>,
    connection: Option<UnbufferedClientConnection>,
    /// A record that has come in part.
    partial: Vec<u8>,
    is_securing: bool,
    /// Whether the server has to take one of the protocols that are offered.
    needs_alpn: bool,
    /// The server has said that nothing more will come.
    is_closed: bool,
}

/// How a connection was secured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Secured {
    /// From an earlier connection's session, without certificates.
    pub resumed: bool,
    /// Such as `TLSv1.3`.
    pub version: String,
    /// Such as `TLS13_AES_256_GCM_SHA384`.
    pub cipher: String,
    /// The group of the key exchange, such as `X25519`; nothing where there was none.
    pub group: Option<String>,
}

impl std::fmt::Debug for TlsClient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TlsClient").field("name", &self.name).finish_non_exhaustive()
    }
}

impl TlsClient {
    /// Another client of the same settings, which shares its sessions.
    pub fn another(&self) -> Self {
        Self::new(Arc::clone(&self.config), self.name.clone(), self.needs_alpn)
    }

    pub(super) fn new(config: Arc<ClientConfig>, name: ServerName<'static>, needs_alpn: bool) -> Self {
        Self { config, name, connection: None, partial: Vec::new(), is_securing: true, needs_alpn, is_closed: false }
    }

    /// Begins a new connection; its first words go to `out`.
    ///
    /// # Errors
    /// As the TLS library.
    pub fn open(&mut self, out: &mut Vec<u8>) -> Result<(), TlsError> {
        self.partial.clear();
        (self.is_securing, self.is_closed) = (true, false);
        self.connection = Some(UnbufferedClientConnection::new(Arc::clone(&self.config), self.name.clone())?);
        self.process(&mut [], out, &mut Vec::new())?;
        Ok(())
    }

    /// Whether the handshake is still under way.
    #[inline]
    pub fn is_securing(&self) -> bool {
        self.is_securing
    }

    /// Whether the server has ended its side as TLS asks for, so that nothing can have been cut off.
    pub fn is_closed(&self) -> bool {
        self.is_closed
    }

    /// How the connection was secured, once it was.
    pub fn secured(&self) -> Option<Secured> {
        let connection = self.connection.as_ref().filter(|_| !self.is_securing)?;
        let version = match connection.protocol_version() {
            Some(rustls::ProtocolVersion::TLSv1_2) => "TLSv1.2",
            _ => "TLSv1.3",
        };
        let cipher = connection.negotiated_cipher_suite().map(|suite| format!("{:?}", suite.suite()));
        Some(Secured {
            resumed: connection.handshake_kind() == Some(HandshakeKind::Resumed),
            version: version.into(),
            cipher: cipher.unwrap_or_default(),
            group: connection.negotiated_key_exchange_group().map(|group| format!("{:?}", group.name())),
        })
    }

    /// Takes ciphertext, which is decrypted in place. Plaintext is added to `plain`, and what is to be said in return to
    /// `out`.
    ///
    /// # Errors
    /// As the TLS library. What is in `out` should still be sent: it tells the server why.
    pub fn receive(&mut self, input: &mut [u8], out: &mut Vec<u8>, plain: &mut Vec<u8>) -> Result<(), TlsError> {
        let was_securing = self.is_securing;
        if self.partial.is_empty() {
            let used = self.process(input, out, plain)?;
            self.partial.extend_from_slice(&input[used..]);
        } else {
            let mut all = std::mem::take(&mut self.partial);
            all.extend_from_slice(input);
            let used = self.process(&mut all, out, plain)?;
            all.drain(..used);
            self.partial = all;
        }
        if was_securing && !self.is_securing && self.needs_alpn && !self.has_protocol() {
            let offered = self.config.alpn_protocols.iter().map(|protocol| String::from_utf8_lossy(protocol));
            return Err(TlsError::Alpn(offered.collect::<Vec<_>>().join(" or ")));
        }
        Ok(())
    }

    /// Whether the server has taken a protocol that was offered.
    fn has_protocol(&self) -> bool {
        self.connection.as_ref().is_some_and(|connection| connection.alpn_protocol().is_some())
    }

    /// Processes whole records from the front of `input`, and gives how many bytes they were.
    fn process(&mut self, input: &mut [u8], out: &mut Vec<u8>, plain: &mut Vec<u8>) -> Result<usize, TlsError> {
        let Some(connection) = &mut self.connection else { return Ok(input.len()) };
        let mut used = 0;
        loop {
            let status = connection.process_tls_records(&mut input[used..]);
            let (discard, mut done) = (status.discard, false);
            match status.state {
                Ok(ConnectionState::ReadTraffic(mut traffic)) => {
                    while let Some(record) = traffic.next_record() {
                        plain.extend_from_slice(record?.payload);
                    }
                }
                Ok(ConnectionState::EncodeTlsData(mut data)) => {
                    append(out, RECORD_OVERHEAD, |room| match data.encode(room) {
                        Ok(written) => Ok(written),
                        Err(EncodeError::InsufficientSize(InsufficientSizeError { required_size })) => {
                            Err(Some(required_size))
                        }
                        Err(EncodeError::AlreadyEncoded) => Err(None),
                    });
                }
                Ok(ConnectionState::TransmitTlsData(data)) => data.done(),
                Ok(ConnectionState::WriteTraffic(_)) => (self.is_securing, done) = (false, true),
                Ok(ConnectionState::PeerClosed | ConnectionState::Closed) => (self.is_closed, done) = (true, true),
                Ok(_) => done = true,
                Err(error) => {
                    self.alert(out);
                    return Err(error.into());
                }
            }
            used += discard;
            if done {
                return Ok(used);
            }
        }
    }

    /// Tells the server why the connection ends.
    #[cold]
    fn alert(&mut self, out: &mut Vec<u8>) {
        let Some(connection) = &mut self.connection else { return };
        while let Ok(ConnectionState::EncodeTlsData(mut data)) = connection.process_tls_records(&mut []).state {
            append(out, RECORD_OVERHEAD, |room| data.encode(room).map_err(|_| Some(RECORD)));
        }
    }

    /// Encrypts `plain` onto the end of `out`.
    ///
    /// # Errors
    /// If the handshake is not complete, or the connection's keys are used up.
    pub fn send(&mut self, plain: &[u8], out: &mut Vec<u8>) -> Result<(), TlsError> {
        let Some(connection) = &mut self.connection else {
            return Err(TlsError::Protocol("there is no connection".into()));
        };
        for piece in plain.chunks(RECORD) {
            loop {
                match connection.process_tls_records(&mut []).state? {
                    ConnectionState::WriteTraffic(mut traffic) => {
                        let sent = append(out, piece.len() + RECORD_OVERHEAD, |room| {
                            traffic.encrypt(piece, room).map_err(|error| match error {
                                EncryptError::InsufficientSize(least) => Some(least.required_size),
                                EncryptError::EncryptExhausted => None,
                            })
                        });
                        if !sent {
                            return Err(TlsError::Protocol("the connection's keys are used up".into()));
                        }
                        break;
                    }
                    // A change of keys goes first.
                    ConnectionState::EncodeTlsData(mut data) => {
                        append(out, RECORD_OVERHEAD, |room| data.encode(room).map_err(|_| Some(RECORD)));
                    }
                    ConnectionState::TransmitTlsData(data) => data.done(),
                    _ => return Err(TlsError::Protocol("nothing can be sent any more".into())),
                }
            }
        }
        Ok(())
    }
}

/// Lets `write` write to the end of `out`, with at least so much room, or what it asks for instead. Gives whether it
/// could.
#[inline]
fn append(out: &mut Vec<u8>, room: usize, mut write: impl FnMut(&mut [u8]) -> Result<usize, Option<usize>>) -> bool {
    let start = out.len();
    let mut room = room;
    loop {
        out.resize(start + room, 0);
        match write(&mut out[start..]) {
            Ok(written) => {
                out.truncate(start + written);
                return true;
            }
            Err(Some(more)) if more > room => room = more,
            Err(_) => {
                out.truncate(start);
                return false;
            }
        }
    }
}
