//! Certificates for tests.

use std::path::{Path, PathBuf};

/// A certificate for localhost and 127.0.0.1 that signs itself, and its key, as PEM files.
pub fn self_signed(folder: &Path) -> (PathBuf, PathBuf) {
    let names = ["localhost".to_owned(), "127.0.0.1".to_owned()];
    let made = rcgen::generate_simple_self_signed(names).expect("these are names");
    let (certificate, key) = (folder.join("certificate.pem"), folder.join("key.pem"));
    std::fs::write(&certificate, made.cert.pem()).expect("a file can be written");
    std::fs::write(&key, made.signing_key.serialize_pem()).expect("a file can be written");
    (certificate, key)
}
