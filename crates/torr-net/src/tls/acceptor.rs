//! What is asked of TLS on a server's side, and what all of its connections share.

use super::files::{certificates, roots_of};
use super::identities::Identities;
use super::provider::{new_tickets, provider};
use super::{TlsError, TlsServer, Versions};
use rustls::ServerConfig;
use rustls::pki_types::CertificateDer;
use rustls::server::{NoServerSessionStorage, WebPkiClientVerifier};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

/// How a server speaks TLS.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerTlsSettings {
    /// Certificate chains and their keys, as PEM files. Which is shown goes by the names in them; the first is for clients
    /// that name no server, or one that none of them is for.
    pub identities: Vec<(PathBuf, PathBuf)>,
    /// Which versions may be used.
    pub versions: Versions,
    /// Protocols in order of preference (ALPN), such as `h2` and `http/1.1`. A client that offers others only is refused;
    /// one that offers none is not.
    pub alpn: Vec<String>,
    /// Who must have signed a client's certificate, as a PEM file. Without it none is asked for.
    pub client_roots: Option<PathBuf>,
    /// Whether clients get tickets, by which later connections go on from earlier ones' sessions. They get none where neither
    /// the feature `tls-ring` nor `tls-aws-lc-rs` is on.
    pub resumption: bool,
}

impl ServerTlsSettings {
    /// One certificate chain and its key, with nothing special about it.
    pub fn new(certificate: impl Into<PathBuf>, key: impl Into<PathBuf>) -> Self {
        Self {
            identities: vec![(certificate.into(), key.into())],
            versions: Versions::Both,
            alpn: Vec::new(),
            client_roots: None,
            resumption: true,
        }
    }

    /// Reads the files, so that connections can be accepted.
    ///
    /// # Errors
    /// [`TlsError::File`] if one cannot be read or holds nothing of use, or a key is not that of its certificate;
    /// [`TlsError::NoProvider`].
    pub fn load(&self) -> Result<TlsAcceptor, TlsError> {
        let (mut config, authorities) = self.config()?;
        if self.resumption
            && let Some(tickets) = new_tickets()?
        {
            config.ticketer = tickets;
        }
        let (authorities, current) = (Mutex::new(authorities), RwLock::new(Arc::new(config)));
        Ok(TlsAcceptor { shared: Arc::new(Shared { settings: self.clone(), authorities, current }) })
    }

    /// The library's configuration, still without tickets, and the certificates of [`Self::client_roots`].
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
        // Each costs an encryption, a record and its bytes, and who goes on from a session gets a new one.
        config.send_tls13_tickets = usize::from(self.resumption);
        Ok((config, authorities))
    }
}

/// Settings whose files have been read. Clones are the same acceptor: all of a server's threads share one, so that each can
/// read the others' tickets. Tickets of another process are passed over, and the handshake is a full one.
#[derive(Clone)]
pub struct TlsAcceptor {
    shared: Arc<Shared>,
}

struct Shared {
    settings: ServerTlsSettings,
    /// Who may sign clients' certificates. Locked while files are read again, so that of two readers the later one wins.
    authorities: Mutex<Vec<CertificateDer<'static>>>,
    current: RwLock<Arc<ServerConfig>>,
}

impl std::fmt::Debug for TlsAcceptor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TlsAcceptor").field("settings", &self.shared.settings).finish_non_exhaustive()
    }
}

impl TlsAcceptor {
    /// A new connection, of which nothing has been received yet.
    ///
    /// # Errors
    /// As the TLS library.
    pub fn accept(&self) -> Result<TlsServer, TlsError> {
        TlsServer::new(self.current())
    }

    /// Reads the files again. New connections get what they hold now; open ones go on, and tickets stay good, unless
    /// others may sign clients' certificates now: then every client has to show its own again.
    ///
    /// # Errors
    /// As [`ServerTlsSettings::load`]. What was read before stays in use.
    pub fn reload(&self) -> Result<(), TlsError> {
        let mut known = self.shared.authorities.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut config, authorities) = self.shared.settings.config()?;
        let keeps_tickets = authorities == *known || !self.shared.settings.resumption;
        let tickets = if keeps_tickets { Some(Arc::clone(&self.current().ticketer)) } else { new_tickets()? };
        if let Some(tickets) = tickets {
            config.ticketer = tickets;
        }
        *known = authorities;
        *self.shared.current.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(config);
        Ok(())
    }

    fn current(&self) -> Arc<ServerConfig> {
        Arc::clone(&self.shared.current.read().unwrap_or_else(PoisonError::into_inner))
    }
}
