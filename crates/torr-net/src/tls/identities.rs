//! Selection of the server's certificate by the client's server name.

use super::TlsError;
use super::files::{certificates, private_key, unusable};
use rustls::crypto::CryptoProvider;
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

thread_local! {
    /// The server name of the current handshake. `rustls` passes the name of an unbuffered connection only to the selection
    /// of the certificate.
    static SERVER_NAME: RefCell<Option<Box<str>>> = const { RefCell::new(None) };
}

/// The certificate of a chain that has the server's names and key.
const FIRST: &str = "the first certificate";

/// Certificates with their keys, by the names in them.
#[derive(Debug)]
pub(super) struct Identities {
    all: Vec<Arc<CertifiedKey>>,
    /// The indices of the certificates of each name; the key of a wildcard is such as `*.example.com`. A name may have several
    /// certificates, with keys of different algorithms.
    by_name: HashMap<Box<str>, Vec<usize>>,
}

impl Identities {
    /// Reads certificate chains and their keys.
    pub fn load(files: &[(PathBuf, PathBuf)], provider: &CryptoProvider) -> Result<Self, TlsError> {
        if files.is_empty() {
            return Err(TlsError::File("TLS needs a certificate and its key".into()));
        }
        let (mut all, mut by_name) = (Vec::new(), HashMap::<Box<str>, Vec<usize>>::new());
        for (index, (certificate, key)) in files.iter().enumerate() {
            let identity = identity(certificate, key, provider)?;
            for name in names(&identity).map_err(|error| unusable(FIRST, certificate, &error))? {
                let indices = by_name.entry(name).or_default();
                if indices.last() != Some(&index) {
                    indices.push(index);
                }
            }
            all.push(Arc::new(identity));
        }
        Ok(Self { all, by_name })
    }

    /// Returns the certificates of a name: those of the exact name, else those of a wildcard for its first label.
    fn of(&self, name: &str) -> Option<&[usize]> {
        let exact = self.by_name.get(name);
        let found = exact.or_else(|| self.by_name.get(format!("*.{}", name.split_once('.')?.1).as_str()));
        found.map(Vec::as_slice)
    }
}

impl ResolvesServerCert for Identities {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let name = hello.server_name();
        SERVER_NAME.set(name.map(Into::into));
        let first = self.all.first()?;
        if self.all.len() == 1 {
            return Some(Arc::clone(first));
        }
        let usable = |identity: &&Arc<CertifiedKey>| identity.key.choose_scheme(hello.signature_schemes()).is_some();
        let chosen = match name.and_then(|name| self.of(name)) {
            Some(indices) => indices.iter().map(|&index| &self.all[index]).find(usable),
            None => self.all.iter().find(usable),
        };
        // With a certificate that the client cannot use, `rustls` reports why.
        Some(Arc::clone(chosen.unwrap_or(first)))
    }
}

/// Calls `work`, a step of a handshake, and returns the server name that the client sent in it, if any.
pub(super) fn with_server_name<T>(work: impl FnOnce() -> T) -> (T, Option<Box<str>>) {
    SERVER_NAME.set(None);
    let done = work();
    (done, SERVER_NAME.take())
}

/// Returns the DNS names in a certificate in lower case, as `rustls` returns server names.
fn names(identity: &CertifiedKey) -> Result<Vec<Box<str>>, String> {
    let certificate = identity.end_entity_cert().map_err(|error| error.to_string())?;
    let parsed = webpki::EndEntityCert::try_from(certificate).map_err(|error| error.to_string())?;
    Ok(parsed.valid_dns_names().map(|name| name.to_ascii_lowercase().into()).collect())
}

fn identity(certificate: &Path, key: &Path, provider: &CryptoProvider) -> Result<CertifiedKey, TlsError> {
    let chain = certificates(certificate)?;
    let signing = provider
        .key_provider
        .load_private_key(private_key(key)?)
        .map_err(|error| unusable("the private key", key, &error))?;
    let identity = CertifiedKey::new(chain, signing);
    match identity.keys_match() {
        Ok(()) | Err(rustls::Error::InconsistentKeys(rustls::InconsistentKeys::Unknown)) => Ok(identity),
        Err(rustls::Error::InconsistentKeys(_)) => Err(TlsError::File(format!(
            "the private key in {} does not match the first certificate in {}",
            key.display(),
            certificate.display()
        ))),
        Err(error) => Err(unusable(FIRST, certificate, &error)),
    }
}
