//! Reading of certificates and keys from PEM files.

use super::TlsError;
use rustls::RootCertStore;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use std::path::Path;

/// Returns all certificates in a file, at least one.
pub(super) fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let unread = |error| TlsError::File(format!("cannot read certificates from {}: {error}", path.display()));
    let all: Vec<_> = CertificateDer::pem_file_iter(path).map_err(unread)?.collect::<Result<_, _>>().map_err(unread)?;
    if all.is_empty() {
        return Err(TlsError::File(format!("there is no certificate in {}", path.display())));
    }
    Ok(all)
}

/// Returns the first private key in a file.
pub(super) fn private_key(path: &Path) -> Result<PrivateKeyDer<'static>, TlsError> {
    PrivateKeyDer::from_pem_file(path)
        .map_err(|error| TlsError::File(format!("cannot read a private key from {}: {error}", path.display())))
}

/// Returns a store of trusted roots with the certificates of the file `path`.
pub(super) fn roots_of(certificates: &[CertificateDer<'static>], path: &Path) -> Result<RootCertStore, TlsError> {
    let mut roots = RootCertStore::empty();
    for certificate in certificates {
        roots.add(certificate.clone()).map_err(|error| TlsError::File(format!("{}: {error}", path.display())))?;
    }
    Ok(roots)
}
