//! The server's settings of TLS, and the state that all of its connections share.

use super::files::{certificates, roots_of};
use super::identities::Identities;
use super::provider::{new_tickets, provider};
use super::{TlsError, TlsServer, Versions};
use rustls::ServerConfig;
use rustls::pki_types::CertificateDer;
use rustls::server::{NoServerSessionStorage, WebPkiClientVerifier};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

/// The settings of TLS on the server's side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerTlsSettings {
    /// Certificate chains and their keys, as PEM files. The client's server name selects one; the first one serves clients
    /// that send no name, or an unknown one.
    pub identities: Vec<(PathBuf, PathBuf)>,
    /// The versions of TLS to accept.
    pub versions: Versions,
    /// Protocols in order of preference (ALPN), such as `h2` and `http/1.1`. A client that offers only others is rejected; a
    /// client that offers none is accepted.
    pub alpn: Vec<String>,
    /// The authorities that must have signed a client's certificate, as a PEM file. `None` requests no certificate.
    pub client_roots: Option<PathBuf>,
    /// Whether clients get tickets to resume their sessions. Ineffective without the features `tls-ring` and
    /// `tls-aws-lc-rs`.
    pub resumption: bool,
}

impl ServerTlsSettings {
    /// Returns the default settings for one certificate chain and its key.
    pub fn new(certificate: impl Into<PathBuf>, key: impl Into<PathBuf>) -> Self {
        Self {
            identities: vec![(certificate.into(), key.into())],
            versions: Versions::Both,
            alpn: Vec::new(),
            client_roots: None,
            resumption: true,
        }
    }

    /// Reads the files.
    ///
    /// # Errors
    /// [`TlsError::File`] if a file cannot be used, or a key does not belong to its certificate; [`TlsError::NoProvider`].
    pub fn load(&self) -> Result<TlsAcceptor, TlsError> {
        let (mut config, authorities) = self.config()?;
        if self.resumption
            && let Some(tickets) = new_tickets()?
        {
            config.ticketer = tickets;
        }
        let (authorities, current) = (Mutex::new(authorities), RwLock::new(Arc::new(config)));
        Ok(TlsAcceptor { state: Arc::new(AcceptorState { settings: self.clone(), authorities, current }) })
    }

    /// Returns the configuration for `rustls`, still without tickets, and the certificates of [`Self::client_roots`].
    fn config(&self) -> Result<(ServerConfig, Vec<CertificateDer<'static>>), TlsError> {
        let provider = provider()?;
        let identities = Identities::load(&self.identities, &provider)?;
        let builder = ServerConfig::builder_with_provider(Arc::clone(&provider));
        let builder = builder.with_protocol_versions(self.versions.list())?;
        let (builder, authorities) = match &self.client_roots {
            None => (builder.with_no_client_auth(), Vec::new()),
            Some(path) => {
                let authorities = certificates(path)?;
                let roots = Arc::new(roots_of(&authorities, path)?);
                let verifier = WebPkiClientVerifier::builder_with_provider(roots, provider)
                    .build()
                    .map_err(|error| TlsError::File(format!("{}: {error}", path.display())))?;
                (builder.with_client_cert_verifier(verifier), authorities)
            }
        };
        let mut config = builder.with_cert_resolver(Arc::new(identities));
        config.alpn_protocols = self.alpn.iter().map(|protocol| protocol.clone().into_bytes()).collect();
        config.session_storage = Arc::new(NoServerSessionStorage {});
        // One is enough: each ticket costs an encryption and a record, and a resumed connection gets a new ticket.
        config.send_tls13_tickets = usize::from(self.resumption);
        Ok((config, authorities))
    }
}

/// The server's TLS with its files read. Clones share their state, so that each thread of a server can decrypt the others'
/// tickets. A ticket of another process leads to a full handshake.
#[derive(Clone)]
pub struct TlsAcceptor {
    state: Arc<AcceptorState>,
}

struct AcceptorState {
    settings: ServerTlsSettings,
    /// The authorities of clients' certificates. The lock is held during a reload, so that of two reloads the later one wins.
    authorities: Mutex<Vec<CertificateDer<'static>>>,
    current: RwLock<Arc<ServerConfig>>,
}

impl std::fmt::Debug for TlsAcceptor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TlsAcceptor").field("settings", &self.state.settings).finish_non_exhaustive()
    }
}

impl TlsAcceptor {
    /// Creates the state of a new connection.
    ///
    /// # Errors
    /// Returns the errors of `rustls`, such as for a configuration that it rejects.
    pub fn accept(&self) -> Result<TlsServer, TlsError> {
        TlsServer::new(self.current())
    }

    /// Reads the files again, for new connections. Open connections continue.
    ///
    /// Tickets stay valid unless the authorities of clients' certificates have changed: then every client has to present
    /// its certificate again.
    ///
    /// # Errors
    /// Returns the errors of [`ServerTlsSettings::load`]. The configuration in use stays in use after an error.
    pub fn reload(&self) -> Result<(), TlsError> {
        let mut known = self.state.authorities.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut config, authorities) = self.state.settings.config()?;
        let keeps_tickets = authorities == *known || !self.state.settings.resumption;
        let tickets = if keeps_tickets { Some(Arc::clone(&self.current().ticketer)) } else { new_tickets()? };
        if let Some(tickets) = tickets {
            config.ticketer = tickets;
        }
        *known = authorities;
        *self.state.current.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(config);
        Ok(())
    }

    /// Returns the settings.
    #[cfg(feature = "quic")]
    pub(crate) fn settings(&self) -> &ServerTlsSettings {
        &self.state.settings
    }

    /// Returns the configuration for new connections.
    pub(crate) fn current(&self) -> Arc<ServerConfig> {
        Arc::clone(&self.state.current.read().unwrap_or_else(PoisonError::into_inner))
    }
}
