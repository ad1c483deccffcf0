//! The client's settings of TLS, and their translation for `rustls`.

use super::files::{certificates, certificates_in, private_key, private_key_in, roots_of, unusable};
use super::provider::provider;
use super::tickets::Tickets;
use super::trust::{PolicyVerifier, TrustPolicy};
use super::unmet_request::UnmetRequest;
use super::{TlsClient, TlsError};
use rustls::client::WebPkiServerVerifier;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::ServerName;
use rustls::version::{TLS12, TLS13};
use rustls::{ClientConfig, RootCertStore, SupportedCipherSuite, SupportedProtocolVersion};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The settings of TLS on the client's side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsSettings {
    /// The server's name, which its certificate must have and SNI carries.
    pub name: String,
    /// Whether the name is sent (SNI).
    pub sends_name: bool,
    /// The trust in certificates.
    pub roots: Roots,
    /// The client's certificate chain and its key.
    pub identity: Option<Identity>,
    /// The versions of TLS to offer.
    pub versions: Versions,
    /// The names of the cipher suites of TLS 1.2 to offer, such as `TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256`; none for all. Those of TLS
    /// 1.3 are always offered.
    pub cipher_suites: Vec<String>,
    /// The protocols to offer (ALPN), such as `h2`.
    pub alpn: Vec<String>,
    /// Whether the handshake fails if the server selects none of them.
    pub needs_alpn: bool,
    /// The resumption of sessions.
    pub resumption: Resumption,
    /// Whether connections of QUIC that resume a session may send requests with their first datagrams (0-RTT), where the server permits
    /// it. Others may send them again, so that they must be safe ones.
    pub early_data: bool,
}

/// A certificate chain and its private key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Identity {
    /// The chain and the key as PEM files.
    Files(PathBuf, PathBuf),
    /// The chain and the key in PEM.
    Pem(IdentityPem),
}

impl From<(PathBuf, PathBuf)> for Identity {
    fn from((chain, key): (PathBuf, PathBuf)) -> Self {
        Self::Files(chain, key)
    }
}

/// A certificate chain and its private key in PEM.
#[derive(Clone, PartialEq, Eq)]
pub struct IdentityPem {
    /// The certificate chain.
    pub chain: Arc<str>,
    /// The private key, which is not encrypted.
    pub key: Arc<str>,
    /// The place where both stand, for errors.
    pub place: String,
}

// A private key is not for logs.
impl fmt::Debug for IdentityPem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IdentityPem").field("place", &self.place).finish_non_exhaustive()
    }
}

/// The trusted signers of the server's certificate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Roots {
    /// The system's trusted roots.
    System,
    /// The certificates in a PEM file.
    File(PathBuf),
    /// The certificates in a PEM file that was read already.
    Pem {
        /// The file, for errors.
        path: PathBuf,
        /// The content of the file.
        content: Arc<[u8]>,
    },
    /// Any signer: the certificate is not verified.
    AcceptAny,
}

/// The versions of TLS to use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Versions {
    /// 1.2 and 1.3.
    Both,
    /// 1.2.
    Tls12,
    /// 1.3.
    Tls13,
}

impl Versions {
    pub(super) fn list(self) -> &'static [&'static SupportedProtocolVersion] {
        match self {
            Self::Both => const { &[&TLS13, &TLS12] },
            Self::Tls12 => const { &[&TLS12] },
            Self::Tls13 => const { &[&TLS13] },
        }
    }
}

/// The resumption of sessions by later connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resumption {
    /// Sessions are resumed, as in browsers.
    On,
    /// Resumption is not offered, so that servers send no tickets.
    Off,
    /// Tickets are accepted but never used, as by first-time visitors: each handshake is a full one.
    Full,
}

impl TlsSettings {
    /// Returns the default settings for a server of this name: the system's roots, all versions, no ALPN.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            sends_name: true,
            roots: Roots::System,
            identity: None,
            versions: Versions::Both,
            cipher_suites: Vec::new(),
            alpn: Vec::new(),
            needs_alpn: false,
            resumption: Resumption::On,
            early_data: false,
        }
    }

    /// Reads the files.
    ///
    /// # Errors
    /// [`TlsError::File`] if a file cannot be used, [`TlsError::Name`], [`TlsError::NoProvider`].
    pub fn load(&self) -> Result<TlsConfig, TlsError> {
        let name = ServerName::try_from(self.name.clone()).map_err(|_| TlsError::Name(self.name.clone()))?;
        let (mut config, needs_alpn, resumption) = (self.client_config()?, self.needs_alpn, self.resumption);
        let unmet_request = Arc::new(UnmetRequest::default());
        if self.identity.is_none() {
            config.client_auth_cert_resolver = Arc::<UnmetRequest>::clone(&unmet_request);
        }
        let early_data = self.early_data;
        Ok(TlsConfig { config, name, needs_alpn, resumption, early_data, unmet_request })
    }

    /// Reads the files, and returns the settings for a client that calls `rustls` itself, such as one of NATS. Its own default would
    /// look for a provider of the process, and panic without one. The name and the resumption are that client's affair.
    ///
    /// # Errors
    /// Returns the errors of [`TlsSettings::load`], except [`TlsError::Name`].
    pub fn client_config(&self) -> Result<ClientConfig, TlsError> {
        let provider = self.provider()?;
        let algorithms = provider.signature_verification_algorithms;
        let builder = ClientConfig::builder_with_provider(Arc::clone(&provider));
        let builder = builder.with_protocol_versions(self.versions.list())?;
        let signed_by = |roots| WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider).build();
        let policy = match &self.roots {
            Roots::AcceptAny => TrustPolicy::AcceptAny,
            Roots::System => {
                let signed = signed_by(system_roots()?).map_err(|error| TlsError::File(error.to_string()))?;
                TrustPolicy::GivenOrSigned(Vec::new(), signed)
            }
            Roots::File(path) | Roots::Pem { path, .. } => {
                let given = match &self.roots {
                    Roots::Pem { content, .. } => certificates_in(content, path)?,
                    _ => certificates(path)?,
                };
                let signed = signed_by(roots_of(&given, path)?);
                let signed = signed.map_err(|error| unusable("a certificate", path, &error))?;
                TrustPolicy::GivenOrSigned(given, signed)
            }
        };
        let builder =
            builder.dangerous().with_custom_certificate_verifier(Arc::new(PolicyVerifier { policy, algorithms }));
        let mut config = match &self.identity {
            None => builder.with_no_client_auth(),
            Some(Identity::Files(certificate, key)) => builder
                .with_client_auth_cert(certificates(certificate)?, private_key(key)?)
                .map_err(|error| unusable("a certificate", certificate, &error))?,
            Some(Identity::Pem(IdentityPem { chain, key, place })) => {
                let place = Path::new(place);
                let chain = certificates_in(chain.as_bytes(), place)?;
                builder
                    .with_client_auth_cert(chain, private_key_in(key.as_bytes(), place)?)
                    .map_err(|error| unusable("a certificate", place, &error))?
            }
        };
        config.alpn_protocols = self.alpn.iter().map(|protocol| protocol.clone().into_bytes()).collect();
        config.enable_sni = self.sends_name;
        Ok(config)
    }

    /// Returns the provider of cryptography with the cipher suites to offer.
    fn provider(&self) -> Result<Arc<CryptoProvider>, TlsError> {
        let provider = provider()?;
        if self.cipher_suites.is_empty() {
            return Ok(provider);
        }
        let mut provider = CryptoProvider::clone(&provider);
        let is_wanted = |suite: &SupportedCipherSuite| {
            suite.tls13().is_some() || self.cipher_suites.iter().any(|name| *name == name_of(suite))
        };
        provider.cipher_suites.retain(is_wanted);
        Ok(Arc::new(provider))
    }
}

/// Returns the names of the cipher suites of TLS 1.2 that can be offered.
///
/// # Errors
/// [`TlsError::NoProvider`].
pub fn cipher_suites() -> Result<Vec<String>, TlsError> {
    let all = &provider()?.cipher_suites;
    Ok(all.iter().filter(|suite| suite.tls13().is_none()).map(name_of).collect())
}

/// Returns the registered name of a cipher suite of TLS 1.2.
fn name_of(suite: &SupportedCipherSuite) -> String {
    format!("{:?}", suite.suite())
}

/// The client's settings with their files read.
#[derive(Debug, Clone)]
pub struct TlsConfig {
    config: ClientConfig,
    name: ServerName<'static>,
    needs_alpn: bool,
    resumption: Resumption,
    early_data: bool,
    /// The server's request for a certificate, where the settings have none.
    unmet_request: Arc<UnmetRequest>,
}

impl TlsConfig {
    /// Creates a client with a session store of its own.
    pub fn client(&self) -> TlsClient {
        let config = Arc::new(self.with_own_sessions());
        TlsClient::new(config, self.name.clone(), self.needs_alpn, Arc::clone(&self.unmet_request))
    }

    /// Returns the settings for `rustls` with a session store of their own.
    pub(super) fn with_own_sessions(&self) -> ClientConfig {
        let mut config = self.config.clone();
        config.resumption = match self.resumption {
            Resumption::On => rustls::client::Resumption::store(Arc::new(Tickets::new(true))),
            Resumption::Full => rustls::client::Resumption::store(Arc::new(Tickets::new(false))),
            Resumption::Off => rustls::client::Resumption::disabled(),
        };
        config
    }

    /// Returns whether connections of QUIC may have early data, see [`TlsSettings::early_data`].
    pub fn early_data(&self) -> bool {
        self.early_data
    }

    /// Returns the server's name.
    #[cfg(feature = "quic")]
    pub(super) fn name(&self) -> ServerName<'static> {
        self.name.clone()
    }

    /// Returns the protocols to offer.
    #[cfg(feature = "quic")]
    pub(super) fn protocols(&self) -> &[Vec<u8>] {
        &self.config.alpn_protocols
    }
}

fn system_roots() -> Result<RootCertStore, TlsError> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if roots.is_empty() {
        let no_roots = "the system has no trusted certificates: install ca-certificates, or pass --cacert";
        return Err(TlsError::File(no_roots.into()));
    }
    Ok(roots)
}

#[cfg(all(test, feature = "tls-ring"))]
mod tests {
    use super::*;
    use rustls::client::ClientSessionStore;
    use rustls::pki_types::PrivateKeyDer;
    use rustls::server::ProducesTickets;
    use rustls::{ServerConfig, ServerConnection};

    /// The bytes of each ticket, which fit into a record.
    const LARGE: usize = 12_000;

    /// Tickets of so many bytes.
    #[derive(Debug)]
    struct LargeTickets(usize);

    impl ProducesTickets for LargeTickets {
        fn enabled(&self) -> bool {
            true
        }

        fn lifetime(&self) -> u32 {
            3600
        }

        fn encrypt(&self, _: &[u8]) -> Option<Vec<u8>> {
            Some(vec![0; self.0])
        }

        fn decrypt(&self, _: &[u8]) -> Option<Vec<u8>> {
            None
        }
    }

    /// Returns the settings of a server that sends so many tickets of this size in one flight behind each handshake.
    fn server(tickets: usize, bytes: usize) -> Arc<ServerConfig> {
        let made = rcgen::generate_simple_self_signed(["a.test".to_owned()]).expect("a certificate can be made");
        let key = PrivateKeyDer::Pkcs8(made.signing_key.serialize_der().into());
        let builder = ServerConfig::builder_with_provider(provider().expect("there is a provider"));
        let builder = builder.with_safe_default_protocol_versions().expect("there are versions").with_no_client_auth();
        let mut config = builder.with_single_cert(vec![made.cert.der().clone()], key).expect("the key is its own");
        (config.ticketer, config.send_tls13_tickets) = (Arc::new(LargeTickets(bytes)), tickets);
        Arc::new(config)
    }

    /// Does a handshake that a client has begun with these bytes, and receives what the server sends after it.
    ///
    /// # Errors
    /// The client's, if the server does not keep to the protocol.
    fn shake_hands(
        mut client: TlsClient,
        mut to_server: Vec<u8>,
        mut server: ServerConnection,
    ) -> Result<(), TlsError> {
        let (mut to_client, mut plain) = (Vec::new(), Vec::new());
        loop {
            server.read_tls(&mut &*std::mem::take(&mut to_server)).expect("bytes can be read");
            server.process_new_packets().expect("the client keeps to the protocol");
            while server.wants_write() {
                server.write_tls(&mut to_client).expect("memory can be written");
            }
            if to_client.is_empty() {
                break;
            }
            for piece in std::mem::take(&mut to_client).chunks_mut(16 * 1024) {
                client.receive(piece, &mut to_server, &mut plain)?;
            }
        }
        assert!(!client.is_handshaking());
        Ok(())
    }

    /// Returns a client with this store of tickets that has begun a handshake, and its first bytes.
    fn begun(tickets: &Arc<Tickets>) -> (TlsClient, Vec<u8>) {
        let mut settings = TlsSettings::new("a.test");
        settings.roots = Roots::AcceptAny;
        let mut config = settings.client_config().expect("there is a provider");
        config.resumption = rustls::client::Resumption::store(Arc::clone(tickets) as Arc<dyn ClientSessionStore>);
        let mut client = TlsClient::new(Arc::new(config), name(), false, Arc::default());
        let mut hello = vec![];
        client.open(&mut hello).expect("a handshake can begin");
        (client, hello)
    }

    fn name() -> ServerName<'static> {
        ServerName::try_from("a.test").expect("it is a name")
    }

    #[test]
    fn tickets_of_a_server_take_bounded_memory_and_fewer_are_kept() {
        const ROOM: usize = 1 << 20;
        const SENT: usize = 2 * ROOM / LARGE;
        let tickets = Arc::new(Tickets::with_room(ROOM));
        let server = server(1, LARGE);
        // Each client begins before any ticket is stored, which it would take.
        let clients: Vec<_> = (0..SENT).map(|_| begun(&tickets)).collect();
        for (client, hello) in clients {
            let server = ServerConnection::new(Arc::clone(&server)).expect("the configuration is sound");
            shake_hands(client, hello, server).expect("the server keeps to the protocol");
        }
        let (kept, _) = tickets.stored();
        assert!((4..=ROOM / LARGE).contains(&kept), "{kept} of {SENT} tickets are kept");
        while tickets.take_tls13_ticket(&name()).is_some() {}
        assert_eq!(tickets.stored(), (0, 0), "what is taken makes room");
    }

    #[test]
    fn a_flight_of_large_tickets_is_taken_up_to_a_limit_of_bytes() {
        // Messages that do not end with a record, as rustls and others send them.
        for (sent, is_legal) in [(1, true), (4, true), (16, true), (40, false)] {
            let tickets = Arc::new(Tickets::with_room(4 << 20));
            let server = ServerConnection::new(server(sent, 60_000)).expect("the configuration is sound");
            let (client, hello) = begun(&tickets);
            let ended = shake_hands(client, hello, server);
            match is_legal {
                true => assert_eq!((ended, tickets.stored().0 > 0), (Ok(()), true), "{sent} tickets"),
                false => assert!(
                    matches!(&ended, Err(TlsError::Protocol(why)) if why.contains("larger than 1024 KiB")),
                    "{ended:?}"
                ),
            }
        }
    }
}
