//! What is asked of TLS, and the library's configuration for it.

use super::files::{certificates, private_key, roots_of};
use super::provider::provider;
use super::tickets::Tickets;
use super::trust::{Rule, Trust};
use super::{TlsClient, TlsError};
use rustls::client::WebPkiServerVerifier;
use rustls::pki_types::ServerName;
use rustls::version::{TLS12, TLS13};
use rustls::{ClientConfig, RootCertStore, SupportedProtocolVersion};
use std::path::PathBuf;
use std::sync::Arc;

/// How a client speaks TLS.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsSettings {
    /// The server's name, for its certificate and for SNI.
    pub name: String,
    /// Whether the server is told which name is meant (SNI).
    pub sends_name: bool,
    /// Whom to trust.
    pub roots: Roots,
    /// A certificate of one's own and its key, as PEM files.
    pub identity: Option<(PathBuf, PathBuf)>,
    /// Which versions may be used.
    pub versions: Versions,
    /// The protocols to offer (ALPN), such as `h2`. With one only, the server has to take it or none.
    pub alpn: Vec<String>,
    /// Whether a server that takes none of them is of no use.
    pub needs_alpn: bool,
    /// What becomes of sessions.
    pub resumption: Resumption,
}

/// Who may have signed the server's certificate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Roots {
    /// Whom the system trusts.
    System,
    /// Those in a PEM file.
    File(PathBuf),
    /// AcceptAny: the certificate is not checked.
    AcceptAny,
}

/// Versions of TLS.
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

/// Whether later connections go on from earlier ones' sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resumption {
    /// As browsers do.
    On,
    /// Servers are told that tickets are of no use, and send none.
    Off,
    /// As visitors do who come for the first time: tickets are taken, but never used, and each handshake is a full one.
    Full,
}

impl TlsSettings {
    /// A server of this name, checked against the system's roots, with nothing special about it.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            sends_name: true,
            roots: Roots::System,
            identity: None,
            versions: Versions::Both,
            alpn: Vec::new(),
            needs_alpn: false,
            resumption: Resumption::On,
        }
    }

    /// Reads the files, so that clients can be made of it.
    ///
    /// # Errors
    /// [`TlsError::File`] if one cannot be read or holds nothing of use, [`TlsError::Name`], [`TlsError::NoProvider`].
    pub fn load(&self) -> Result<TlsConfig, TlsError> {
        let name = ServerName::try_from(self.name.clone()).map_err(|_| TlsError::Name(self.name.clone()))?;
        let (config, needs_alpn, resumption) = (self.config()?, self.needs_alpn, self.resumption);
        Ok(TlsConfig { config, name, needs_alpn, resumption })
    }

    fn config(&self) -> Result<ClientConfig, TlsError> {
        let provider = provider()?;
        let algorithms = provider.signature_verification_algorithms;
        let builder = ClientConfig::builder_with_provider(Arc::clone(&provider));
        let builder = builder.with_protocol_versions(self.versions.list())?;
        let by_rule = |rule| Arc::new(Trust { rule, algorithms });
        let builder = match &self.roots {
            Roots::System => builder.with_root_certificates(system_roots()?),
            Roots::AcceptAny => builder.dangerous().with_custom_certificate_verifier(by_rule(Rule::AcceptAny)),
            Roots::File(path) => {
                let given = certificates(path)?;
                let roots = Arc::new(roots_of(&given, path)?);
                let signed = WebPkiServerVerifier::builder_with_provider(roots, provider)
                    .build()
                    .map_err(|error| TlsError::File(format!("{}: {error}", path.display())))?;
                builder.dangerous().with_custom_certificate_verifier(by_rule(Rule::GivenOrSigned(given, signed)))
            }
        };
        let mut config = match &self.identity {
            None => builder.with_no_client_auth(),
            Some((certificate, key)) => {
                let refused = |error| TlsError::File(format!("{}: {error}", certificate.display()));
                builder.with_client_auth_cert(certificates(certificate)?, private_key(key)?).map_err(refused)?
            }
        };
        config.alpn_protocols = self.alpn.iter().map(|protocol| protocol.clone().into_bytes()).collect();
        config.enable_sni = self.sends_name;
        Ok(config)
    }
}

/// Settings whose files have been read.
#[derive(Debug, Clone)]
pub struct TlsConfig {
    config: ClientConfig,
    name: ServerName<'static>,
    needs_alpn: bool,
    resumption: Resumption,
}

impl TlsConfig {
    /// A client by it, with sessions of its own.
    pub fn client(&self) -> TlsClient {
        let mut config = self.config.clone();
        config.resumption = match self.resumption {
            Resumption::On => rustls::client::Resumption::store(Arc::new(Tickets::new(true))),
            Resumption::Full => rustls::client::Resumption::store(Arc::new(Tickets::new(false))),
            Resumption::Off => rustls::client::Resumption::disabled(),
        };
        TlsClient::new(Arc::new(config), self.name.clone(), self.needs_alpn)
    }
}

fn system_roots() -> Result<RootCertStore, TlsError> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if roots.is_empty() {
        let nobody = "the system has no list of whom to trust: give --cacert, or install ca-certificates";
        return Err(TlsError::File(nobody.into()));
    }
    Ok(roots)
}
