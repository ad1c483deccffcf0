//! Reading of certificates and keys from PEM files.

use super::TlsError;
use crate::errors::describe;
use rustls::RootCertStore;
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use std::fmt::Display;
use std::fs;
use std::path::Path;

/// The mark of an encrypted key: in the line that begins it, or in the field `Proc-Type`.
const ENCRYPTED: &[u8] = b"ENCRYPTED";

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
        return Err(TlsError::File(format!("no certificate in {}: pass a PEM file", path.display())));
    }
    Ok(all)
}

fn unread(path: &Path, error: &pem::Error) -> TlsError {
    let why = match error {
        pem::Error::Io(error) => describe(error),
        error => error.to_string(),
    };
    TlsError::File(format!("cannot read certificates from {}: {why}", path.display()))
}

/// Returns the first private key in a file.
pub(super) fn private_key(path: &Path) -> Result<PrivateKeyDer<'static>, TlsError> {
    let unread = |error: &_| format!("cannot read a private key from {}: {}", path.display(), describe(error));
    let content = fs::read(path).map_err(|error| TlsError::File(unread(&error)))?;
    private_key_in(&content, path)
}

/// Returns the first private key in the content of a file.
pub(super) fn private_key_in(content: &[u8], path: &Path) -> Result<PrivateKeyDer<'static>, TlsError> {
    let shown = path.display();
    PrivateKeyDer::from_pem_slice(content).map_err(|error| {
        // Of an encrypted key the reader finds either no key or content that is not base64.
        let is_encrypted = content.windows(ENCRYPTED.len()).any(|part| part == ENCRYPTED);
        TlsError::File(match error {
            _ if is_encrypted => format!(
                "the private key in {shown} is encrypted, which is not supported: decrypt it with 'openssl pkey -in \
                 {shown} -out FILE'"
            ),
            pem::Error::NoItemsFound => format!("no private key in {shown}: pass a PEM file"),
            error => format!("cannot read a private key from {shown}: {error}"),
        })
    })
}

/// Returns a store of trusted roots with the certificates of the file `path`.
pub(super) fn roots_of(certificates: &[CertificateDer<'static>], path: &Path) -> Result<RootCertStore, TlsError> {
    let mut roots = RootCertStore::empty();
    for certificate in certificates {
        roots.add(certificate.clone()).map_err(|error| unusable("a certificate", path, &error))?;
    }
    Ok(roots)
}

/// Returns the error of something in a file that was read and cannot be used.
pub(super) fn unusable(what: &str, path: &Path, why: &impl Display) -> TlsError {
    TlsError::File(format!("cannot use {what} in {}: {why}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::private_key;
    use std::fs;

    #[test]
    fn a_file_without_a_usable_key_is_described() {
        let folder = tempfile::tempdir().expect("there is room for temporary files");
        let file = folder.path().join("key.pem");
        let by_pkcs8 = "-----BEGIN ENCRYPTED PRIVATE KEY-----\nMIIB\n-----END ENCRYPTED PRIVATE KEY-----\n";
        let by_field = "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0123\n\nMIIB\n\
                        -----END RSA PRIVATE KEY-----\n";
        for (content, words) in [
            (by_pkcs8, "is encrypted, which is not supported: decrypt it with 'openssl pkey -in "),
            (by_field, "is encrypted, which is not supported: decrypt it with 'openssl pkey -in "),
            ("", "no private key in "),
            ("-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n", "no private key in "),
        ] {
            fs::write(&file, content).expect("it is written");
            let error = private_key(&file).expect_err(content).to_string();
            assert!(error.contains(words) && error.contains("key.pem") && !error.contains('\n'), "{error}");
        }
        fs::remove_file(&file).expect("it is there");
        let error = private_key(&file).expect_err("it is gone").to_string();
        assert!(error.contains("key.pem: no such file"), "{error}");
    }
}
