//! The handshake of TLS 1.3 within QUIC (RFC 9001), of both sides, by `rustls`: as that of `quinn-proto`, with the errors and the parameters that
//! users get to see.

use super::early_data::EarlySessions;
use super::keys::{direction, keys, packet_keys};
use crate::tls::{NegotiatedTls, TlsAcceptor, TlsConfig, TlsError, handshake};
use quinn_proto::crypto::{self, ExportKeyingMaterialError, KeyPair, Keys, PacketKey, UnsupportedVersion};
use quinn_proto::transport_parameters::TransportParameters;
use quinn_proto::{ConnectError, ConnectionId, EndpointConfig, Side, TransportError, TransportErrorCode};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::ServerName;
use rustls::quic::{ClientConnection, Connection, KeyChange, Secrets, ServerConnection, Suite, Version};
use rustls::{AlertDescription, ClientConfig, ServerConfig};
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
        let initial = initial_suite(config.crypto_provider())?;
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
        let role = Role::Client { config: self, parameters: Box::new(*params) };
        Ok(Box::new(Session::new(tls.into(), role)))
    }
}

/// Returns the cipher suite of the first packets.
fn initial_suite(provider: &CryptoProvider) -> Result<Suite, TlsError> {
    let mut suites = provider.cipher_suites.iter().filter_map(|suite| suite.tls13());
    let initial = suites.find(|suite| suite.common.suite == rustls::CipherSuite::TLS13_AES_128_GCM_SHA256);
    initial.and_then(|suite| suite.quic_suite()).ok_or(TlsError::NoProvider)
}

/// The settings of handshakes with clients.
pub struct Server {
    acceptor: TlsAcceptor,
    /// The sessions whose clients may send early data; `None` if none may.
    early: Option<EarlySessions>,
    /// The cipher suite of the first packets, whose keys are no secret.
    initial: Suite,
}

impl Server {
    /// Returns the settings of a server that speaks this protocol (ALPN) only.
    ///
    /// # Errors
    /// If `rustls` rejects the settings, such as those without TLS 1.3.
    pub fn new(acceptor: TlsAcceptor, early_data: bool) -> Result<Self, TlsError> {
        let initial = initial_suite(acceptor.current().crypto_provider())?;
        let early = EarlySessions::of(&acceptor).filter(|_| early_data);
        let server = Self { acceptor, early, initial };
        ServerConnection::new(Arc::new(server.config()), Version::V1, Vec::new())?;
        Ok(server)
    }

    /// Returns the current settings for HTTP/3.
    fn config(&self) -> ServerConfig {
        let mut config = ServerConfig::clone(&self.acceptor.current());
        config.alpn_protocols = vec![b"h3".to_vec()];
        if let Some(early) = &self.early {
            early.apply(&mut config);
        }
        config
    }
}

impl crypto::ServerConfig for Server {
    fn initial_keys(&self, version: u32, dst_cid: &ConnectionId) -> Result<Keys, UnsupportedVersion> {
        match version {
            VERSION => Ok(keys(self.initial.keys(dst_cid, rustls::Side::Server, Version::V1))),
            _ => Err(UnsupportedVersion),
        }
    }

    fn retry_tag(&self, version: u32, orig_dst_cid: &ConnectionId, packet: &[u8]) -> [u8; 16] {
        retry_tag(self.config(), version, orig_dst_cid, packet)
    }

    fn start_session(self: Arc<Self>, _version: u32, params: &TransportParameters) -> Box<dyn crypto::Session> {
        let mut parameters = Vec::new();
        params.write(&mut parameters);
        let tls = ServerConnection::new(Arc::new(self.config()), Version::V1, parameters);
        let tls = tls.expect("the same settings, but for certificates, were accepted by `Server::new`");
        Box::new(Session::new(tls.into(), Role::Server { initial: self.initial }))
    }
}

/// The role of this side in a handshake.
enum Role {
    Client {
        config: Arc<Client>,
        /// This side's parameters.
        parameters: Box<TransportParameters>,
    },
    Server {
        initial: Suite,
    },
}

/// The handshake of one connection.
struct Session {
    tls: Tls,
    role: Role,
    /// The bytes of handshake messages received.
    received: usize,
    has_protocol: bool,
    /// The secrets of the next keys.
    next: Option<Secrets>,
    /// The error of the handshake.
    error: Option<rustls::Error>,
}

/// The state of a handshake.
enum Tls {
    /// It goes on, or the server may send tickets behind it.
    Connection(Box<Connection>),
    /// It is complete: a server has sent its tickets, and a client has nothing more to say (RFC 9001, section 6). All that `rustls` keeps
    /// is several kilobytes.
    Complete(Box<Facts>),
}

impl Session {
    fn new(tls: Connection, role: Role) -> Self {
        let tls = Tls::Connection(Box::new(tls));
        Self { tls, role, received: 0, has_protocol: false, next: None, error: None }
    }

    fn facts(&self) -> Facts {
        let tls = match &self.tls {
            Tls::Connection(tls) => tls,
            Tls::Complete(facts) => return Facts::clone(facts),
        };
        // A server that takes early data has chosen the parameters already.
        let is_chosen = tls.negotiated_cipher_suite().is_some() && matches!(&**tls, Connection::Server(_));
        let negotiated = (is_chosen || !tls.is_handshaking())
            .then(|| NegotiatedTls { early_data: is_early_data_accepted(tls), ..handshake::negotiated(tls) });
        let mut facts = Facts { negotiated, error: self.error.clone(), ..Facts::default() };
        if let Connection::Server(server) = &**tls {
            facts.server_name = server.server_name().map(str::to_owned);
            let chain = server.peer_certificates().unwrap_or_default();
            facts.client_certificates = chain.iter().map(|certificate| certificate.to_vec()).collect();
        }
        facts
    }
}

/// The facts of a handshake.
#[derive(Clone, Default)]
pub struct Facts {
    /// The parameters, once the handshake is complete.
    pub negotiated: Option<NegotiatedTls>,
    /// The error that has ended the handshake.
    pub error: Option<rustls::Error>,
    /// The server name that the client has sent, on a server.
    pub server_name: Option<String>,
    /// The client's certificate chain in DER, on a server.
    pub client_certificates: Vec<Vec<u8>>,
}

impl Facts {
    /// Returns the facts of a session.
    pub fn of(session: &dyn crypto::Session) -> Self {
        let facts = session.handshake_data().and_then(|facts| facts.downcast().ok());
        facts.map_or_else(Self::default, |facts| *facts)
    }
}

/// Returns whether the server has taken a client's early data.
fn is_early_data_accepted(tls: &Connection) -> bool {
    matches!(tls, Connection::Client(client) if client.is_early_data_accepted())
}

impl crypto::Session for Session {
    fn initial_keys(&self, dst_cid: &ConnectionId, _side: Side) -> Keys {
        keys(match &self.role {
            Role::Client { config, .. } => config.initial.keys(dst_cid, rustls::Side::Client, Version::V1),
            Role::Server { initial } => initial.keys(dst_cid, rustls::Side::Server, Version::V1),
        })
    }

    fn handshake_data(&self) -> Option<Box<dyn Any>> {
        Some(Box::new(self.facts()))
    }

    fn peer_identity(&self) -> Option<Box<dyn Any>> {
        None
    }

    fn early_crypto(&self) -> Option<(Box<dyn crypto::HeaderKey>, Box<dyn PacketKey>)> {
        match &self.tls {
            Tls::Connection(tls) => tls.zero_rtt_keys().map(direction),
            Tls::Complete(_) => None,
        }
    }

    fn early_data_accepted(&self) -> Option<bool> {
        Some(matches!(&self.tls, Tls::Connection(tls) if is_early_data_accepted(tls)))
    }

    fn is_handshaking(&self) -> bool {
        matches!(&self.tls, Tls::Connection(tls) if tls.is_handshaking())
    }

    fn read_handshake(&mut self, buf: &[u8]) -> Result<bool, TransportError> {
        let Tls::Connection(tls) = &mut self.tls else {
            let code = TransportErrorCode::crypto(AlertDescription::UnexpectedMessage.into());
            return Err(TransportError { code, frame: None, reason: "a message behind the handshake".to_owned() });
        };
        let is_client = matches!(self.role, Role::Client { .. });
        self.received += buf.len();
        if is_client {
            handshake::note_arrival(self.received);
        }
        let was_handshaking = tls.is_handshaking();
        if let Err(error) = tls.read_hs(buf) {
            let alert = tls.alert().map(u8::from);
            let code = alert.map_or(TransportErrorCode::PROTOCOL_VIOLATION, TransportErrorCode::crypto);
            let reason = error.to_string();
            self.error = Some(error);
            return Err(TransportError { code, frame: None, reason });
        }
        if is_client && was_handshaking && !tls.is_handshaking() {
            handshake::note_chain(tls);
        }
        // Once, as the interface demands.
        let has_protocol = tls.alpn_protocol().is_some() || !tls.is_handshaking();
        Ok(has_protocol && !std::mem::replace(&mut self.has_protocol, has_protocol))
    }

    fn transport_parameters(&self) -> Result<Option<TransportParameters>, TransportError> {
        let Tls::Connection(tls) = &self.tls else { return Ok(None) };
        match tls.quic_transport_parameters() {
            None => Ok(None),
            Some(bytes) => {
                let side = match self.role {
                    Role::Client { .. } => Side::Client,
                    Role::Server { .. } => Side::Server,
                };
                Ok(Some(TransportParameters::read(side, &mut Cursor::new(bytes))?))
            }
        }
    }

    fn write_handshake(&mut self, buf: &mut Vec<u8>) -> Option<Keys> {
        let Tls::Connection(tls) = &mut self.tls else { return None };
        let Some(change) = tls.write_hs(buf) else {
            if matches!(self.role, Role::Server { .. }) && !tls.is_handshaking() {
                self.tls = Tls::Complete(Box::new(self.facts()));
            }
            return None;
        };
        Some(match change {
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
        match &self.role {
            Role::Client { config, parameters } => {
                is_valid_retry(&config.config, parameters, orig_dst_cid, header, payload)
            }
            // Only servers send such packets.
            Role::Server { .. } => false,
        }
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

/// Returns the tag of a Retry packet, whose key is a constant, by the session of `quinn-proto`.
#[cfg(any(feature = "tls-ring", feature = "tls-aws-lc-rs"))]
fn retry_tag(config: ServerConfig, version: u32, orig_dst_cid: &ConnectionId, packet: &[u8]) -> [u8; 16] {
    use crypto::ServerConfig as _;
    let other = crypto::rustls::QuicServerConfig::try_from(config);
    let other = other.expect("`Server::new` has found the cipher suite of the first packets");
    other.retry_tag(version, orig_dst_cid, packet)
}

#[cfg(not(any(feature = "tls-ring", feature = "tls-aws-lc-rs")))]
fn retry_tag(_: ServerConfig, _: u32, _: &ConnectionId, _: &[u8]) -> [u8; 16] {
    [0; 16]
}

/// Returns the settings of a server's endpoint, with a key of tokens of its own.
///
/// # Errors
/// [`TlsError::NoProvider`] if no cryptography is compiled in.
pub fn server(crypto: Arc<Server>) -> Result<quinn_proto::ServerConfig, TlsError> {
    #[cfg(any(feature = "tls-ring", feature = "tls-aws-lc-rs"))]
    return Ok(quinn_proto::ServerConfig::with_crypto(crypto));
    #[cfg(not(any(feature = "tls-ring", feature = "tls-aws-lc-rs")))]
    {
        drop(crypto);
        Err(TlsError::NoProvider)
    }
}
