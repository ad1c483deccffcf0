//! Reading of certificates and keys from PEM files.

use super::TlsError;
use rustls::RootCertStore;
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use std::path::Path;

/// Returns all certificates in a file, at least one.
pub(super) fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let all = CertificateDer::pem_file_iter(path).map_err(|error| unread(path, &error))?;
    at_least_one(path, all)
}

/// Returns all certificates in the content of a file, at least one.
pub(super) fn certificates_in(content: &[u8], path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    at_least_one(path, CertificateDer::pem_slice_iter(content))
}

fn at_least_one(
    path: &Path,
    all: impl Iterator<Item = Result<CertificateDer<'static>, pem::Error>>,
) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let all: Vec<_> = all.collect::<Result<_, _>>().map_err(|error| unread(path, &error))?;
    if all.is_empty() {
        return Err(TlsError::File(format!("there is no certificate in {}", path.display())));
    }
    Ok(all)
}

fn unread(path: &Path, error: &pem::Error) -> TlsError {
    TlsError::File(format!("cannot read certificates from {}: {error}", path.display()))
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
