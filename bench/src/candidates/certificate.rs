//! The certificate of all servers of a scenario: ECDSA on P-256, made for it alone.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Where certificate and key are; they are made with the first use.
pub fn files(folder: &Path) -> io::Result<[PathBuf; 2]> {
    files_for(folder, &["127.0.0.1"])
}

/// As [`files`], for a server of these names.
pub fn files_for(folder: &Path, names: &[&str]) -> io::Result<[PathBuf; 2]> {
    let files = ["certificate.pem", "key.pem"].map(|name| folder.join(name));
    if !files[1].exists() {
        let made = rcgen::generate_simple_self_signed(names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>())
            .map_err(io::Error::other)?;
        fs::write(&files[0], made.cert.pem())?;
        fs::write(&files[1], made.signing_key.serialize_pem())?;
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_get_the_same() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let read =
            || files(folder.path()).expect("files can be written there").map(|file| fs::read_to_string(file).ok());
        let first = read();
        let begins = |text: &Option<String>, with| text.as_ref().is_some_and(|text| text.starts_with(with));
        assert!(begins(&first[0], "-----BEGIN CERTIFICATE-----"));
        assert!(begins(&first[1], "-----BEGIN PRIVATE KEY-----"));
        assert_eq!(read(), first);
    }
}
