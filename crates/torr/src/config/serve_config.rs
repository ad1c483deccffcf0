//! The values of all settings of `torr serve`.

use crate::service::Mode;
use std::path::PathBuf;
use torr_data::{CacheOptions, Options};
use torr_serve::{ProxyProtocol, Settings, TlsSettings};

/// The values of all settings.
#[derive(Debug, Clone)]
pub struct ServeConfig {
    pub listen: String,
    /// Certificates, and their keys in the same order.
    pub tls_cert: Vec<PathBuf>,
    pub tls_key: Vec<PathBuf>,
    pub tls_client_ca: Option<PathBuf>,
    pub log_level: String,
    /// The folder whose files are served instead of the demo application.
    pub root: Option<PathBuf>,
    /// Whether an axum router responds to the pages without a database.
    pub router: bool,
    /// The database's URL, unless it is the embedded one.
    pub database: Option<String>,
    pub db_mode: Mode,
    pub db_options: Options,
    /// The URL of the cache.
    pub cache: String,
    pub cache_options: CacheOptions,
    pub settings: Settings,
}

impl Default for ServeConfig {
    fn default() -> Self {
        Self {
            listen: "127.0.0.1:8080".into(),
            tls_cert: Vec::new(),
            tls_key: Vec::new(),
            tls_client_ca: None,
            log_level: "info".into(),
            root: None,
            router: false,
            database: None,
            db_mode: Mode::default(),
            db_options: Options::default(),
            cache: "memory".into(),
            cache_options: CacheOptions::default(),
            settings: Settings::default(),
        }
    }
}

impl ServeConfig {
    /// Combines settings that belong together. Returns the reason if they contradict each other.
    pub fn complete(&mut self) -> Result<(), String> {
        if self.settings.proxy_protocol == ProxyProtocol::Required && self.settings.trusted_proxies.is_empty() {
            return Err("proxy_protocol needs trusted_proxies: only these may connect".into());
        }
        if self.tls_cert.len() != self.tls_key.len() {
            let (certs, keys) = (self.tls_cert.len(), self.tls_key.len());
            return Err(format!("each certificate needs its key: tls_cert has {certs}, tls_key has {keys}"));
        }
        if self.settings.http3 && self.tls_cert.is_empty() {
            return Err("http3 needs tls_cert and tls_key: QUIC is always encrypted".into());
        }
        if self.tls_cert.is_empty() {
            return match self.tls_client_ca {
                Some(_) => Err("tls_client_ca needs tls_cert and tls_key".into()),
                None => Ok(()),
            };
        }
        let identities = self.tls_cert.iter().cloned().zip(self.tls_key.iter().cloned()).collect();
        let client_roots = self.tls_client_ca.clone();
        self.settings.tls = Some(TlsSettings { identities, client_roots, ..TlsSettings::new("", "") });
        Ok(())
    }
}
