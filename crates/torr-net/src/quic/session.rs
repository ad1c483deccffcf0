//! The handshake of TLS 1.3 within QUIC (RFC 9001), by `rustls`: as that of `quinn-proto`, with the errors and the parameters that
//! users get to see.

use super::keys::{keys, packet_keys};
use crate::tls::{NegotiatedTls, TlsConfig, TlsError, handshake};
use quinn_proto::crypto::{self, ExportKeyingMaterialError, KeyPair, Keys, PacketKey};
use quinn_proto::transport_parameters::TransportParameters;
use quinn_proto::{ConnectError, ConnectionId, EndpointConfig, Side, TransportError, TransportErrorCode};
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use rustls::quic::{ClientConnection, KeyChange, Secrets, Suite, Version};
use std::any::Any;
use std::io::Cursor;
use std::sync::Arc;

/// The version of QUIC.
pub const VERSION: u32 = 1;

/// Returns the settings of endpoints.
///
/// # Errors
/// [`TlsError::NoProvider`] if no cryptography is compiled in.
pub fn endpoint() -> Result<EndpointConfig, TlsError> {
    #[cfg(any(feature = "tls-ring", feature = "tls-aws-lc-rs"))]
    return Ok(EndpointConfig::default());
    #[cfg(not(any(feature = "tls-ring", feature = "tls-aws-lc-rs")))]
    return Err(TlsError::NoProvider);
}

/// The settings of handshakes with one server.
pub struct Client {
    config: Arc<ClientConfig>,
    name: ServerName<'static>,
    /// The cipher suite of the first packets, whose keys are no secret.
    initial: Suite,
    tls: TlsConfig,
}

impl Client {
    pub fn new(tls: &TlsConfig) -> Result<Self, TlsError> {
        let (config, name) = handshake::parts(tls);
        let mut suites = config.crypto_provider().cipher_suites.iter().filter_map(|suite| suite.tls13());
        let initial = suites.find(|suite| suite.common.suite == rustls::CipherSuite::TLS13_AES_128_GCM_SHA256);
        let initial = initial.and_then(|suite| suite.quic_suite()).ok_or(TlsError::NoProvider)?;
        Ok(Self { config: Arc::new(config), name, initial, tls: tls.clone() })
    }

    /// Translates an error of `rustls` for users.
    pub fn explained(&self, error: rustls::Error) -> TlsError {
        handshake::explained(&self.tls, error)
    }
}

impl crypto::ClientConfig for Client {
    fn start_session(
        self: Arc<Self>,
        _version: u32,
        _server_name: &str,
        params: &TransportParameters,
    ) -> Result<Box<dyn crypto::Session>, ConnectError> {
        let (config, name) = (Arc::clone(&self.config), self.name.clone());
        let mut parameters = Vec::new();
        params.write(&mut parameters);
        let tls = ClientConnection::new(config, Version::V1, name, parameters);
        let tls = tls.map_err(|error| ConnectError::InvalidServerName(error.to_string()))?;
        Ok(Box::new(Session {
            tls,
            client: self,
            parameters: *params,
            received: 0,
            has_protocol: false,
            next: None,
            error: None,
        }))
    }
}

/// The handshake of one connection.
struct Session {
    tls: ClientConnection,
    client: Arc<Client>,
    /// This side's parameters.
    parameters: TransportParameters,
    /// The bytes of handshake messages received.
    received: usize,
    has_protocol: bool,
    /// The secrets of the next keys.
    next: Option<Secrets>,
    /// The error of the handshake.
    error: Option<rustls::Error>,
}

/// The facts of a handshake.
#[derive(Default)]
pub struct Facts {
    /// The parameters, once the handshake is complete.
    pub negotiated: Option<NegotiatedTls>,
    /// The error that has ended the handshake.
    pub error: Option<rustls::Error>,
}

impl Facts {
    /// Returns the facts of a session.
    pub fn of(session: &dyn crypto::Session) -> Self {
        let facts = session.handshake_data().and_then(|facts| facts.downcast().ok());
        facts.map_or_else(Self::default, |facts| *facts)
    }
}

impl crypto::Session for Session {
    fn initial_keys(&self, dst_cid: &ConnectionId, _side: Side) -> Keys {
        keys(self.client.initial.keys(dst_cid, rustls::Side::Client, Version::V1))
    }

    fn handshake_data(&self) -> Option<Box<dyn Any>> {
        let negotiated = (!self.tls.is_handshaking()).then(|| handshake::negotiated(&self.tls));
        Some(Box::new(Facts { negotiated, error: self.error.clone() }))
    }

    fn peer_identity(&self) -> Option<Box<dyn Any>> {
        None
    }

    fn early_crypto(&self) -> Option<(Box<dyn crypto::HeaderKey>, Box<dyn PacketKey>)> {
        None
    }

    fn early_data_accepted(&self) -> Option<bool> {
        Some(false)
    }

    fn is_handshaking(&self) -> bool {
        self.tls.is_handshaking()
    }

    fn read_handshake(&mut self, buf: &[u8]) -> Result<bool, TransportError> {
        self.received += buf.len();
        handshake::note_arrival(self.received);
        let was_handshaking = self.tls.is_handshaking();
        if let Err(error) = self.tls.read_hs(buf) {
            let alert = self.tls.alert().map(u8::from);
            let code = alert.map_or(TransportErrorCode::PROTOCOL_VIOLATION, TransportErrorCode::crypto);
            let reason = error.to_string();
            self.error = Some(error);
            return Err(TransportError { code, frame: None, reason });
        }
        if was_handshaking && !self.tls.is_handshaking() {
            handshake::note_chain(&self.tls);
        }
        // Once, as the interface demands.
        let has_protocol = self.tls.alpn_protocol().is_some() || !self.tls.is_handshaking();
        Ok(has_protocol && !std::mem::replace(&mut self.has_protocol, has_protocol))
    }

    fn transport_parameters(&self) -> Result<Option<TransportParameters>, TransportError> {
        match self.tls.quic_transport_parameters() {
            None => Ok(None),
            Some(bytes) => Ok(Some(TransportParameters::read(Side::Client, &mut Cursor::new(bytes))?)),
        }
    }

    fn write_handshake(&mut self, buf: &mut Vec<u8>) -> Option<Keys> {
        Some(match self.tls.write_hs(buf)? {
            KeyChange::Handshake { keys: new } => keys(new),
            KeyChange::OneRtt { keys: new, next } => {
                self.next = Some(next);
                keys(new)
            }
        })
    }

    fn next_1rtt_keys(&mut self) -> Option<KeyPair<Box<dyn PacketKey>>> {
        let keys = self.next.as_mut()?.next_packet_keys();
        Some(packet_keys(keys.local, keys.remote))
    }

    fn is_valid_retry(&self, orig_dst_cid: &ConnectionId, header: &[u8], payload: &[u8]) -> bool {
        is_valid_retry(&self.client.config, &self.parameters, orig_dst_cid, header, payload)
    }

    fn export_keying_material(
        &self,
        _output: &mut [u8],
        _label: &[u8],
        _context: &[u8],
    ) -> Result<(), ExportKeyingMaterialError> {
        // No protocol here needs keys of its own.
        Err(ExportKeyingMaterialError)
    }
}

/// Checks the tag of a Retry packet, whose key is a constant, by the session of `quinn-proto`: servers that send such a packet are few,
/// and a session is made for it.
#[cfg(any(feature = "tls-ring", feature = "tls-aws-lc-rs"))]
fn is_valid_retry(
    config: &Arc<ClientConfig>,
    parameters: &TransportParameters,
    orig_dst_cid: &ConnectionId,
    header: &[u8],
    payload: &[u8],
) -> bool {
    use crypto::ClientConfig as _;
    let Ok(other) = crypto::rustls::QuicClientConfig::try_from(Arc::clone(config)) else { return false };
    let session = Arc::new(other).start_session(VERSION, "retry.invalid", parameters);
    session.is_ok_and(|session| session.is_valid_retry(orig_dst_cid, header, payload))
}

#[cfg(not(any(feature = "tls-ring", feature = "tls-aws-lc-rs")))]
fn is_valid_retry(_: &Arc<ClientConfig>, _: &TransportParameters, _: &ConnectionId, _: &[u8], _: &[u8]) -> bool {
    false
}
