//! Certificates that are made for one run.

use sha2::{Digest, Sha256};
use std::error::Error;
use std::fs;
use std::path::PathBuf;
use tempfile::TempDir;

/// A self-signed certificate with its key, in files that are gone with this value.
pub struct OwnCertificate {
    folder: TempDir,
    /// The SHA-256 of the certificate, as browsers show it.
    pub fingerprint: String,
}

impl OwnCertificate {
    /// Makes a certificate for these names and addresses.
    ///
    /// # Errors
    /// If a name is not valid, or the files cannot be written.
    pub fn make(names: impl IntoIterator<Item = String>) -> Result<Self, Box<dyn Error>> {
        let made = rcgen::generate_simple_self_signed(names.into_iter().collect::<Vec<_>>())?;
        let folder = tempfile::Builder::new().prefix("torr-certificate-").tempdir()?;
        let bytes: Vec<_> = Sha256::digest(made.cert.der()).iter().map(|byte| format!("{byte:02X}")).collect();
        let own = Self { folder, fingerprint: bytes.join(":") };
        let (certificate, key) = own.files();
        fs::write(certificate, made.cert.pem())?;
        fs::write(key, made.signing_key.serialize_pem())?;
        Ok(own)
    }

    /// Returns the files of the certificate and of its key.
    pub fn files(&self) -> (PathBuf, PathBuf) {
        (self.folder.path().join("cert.pem"), self.folder.path().join("key.pem"))
    }
}
