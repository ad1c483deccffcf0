//! Certificates of the test's own.

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa, KeyPair};
use std::path::{Path, PathBuf};

/// A certificate for localhost and 127.0.0.1, signed by itself, and its key, as PEM files in a folder.
pub fn self_signed(folder: &Path) -> (PathBuf, PathBuf) {
    let names = ["localhost".to_owned(), "127.0.0.1".to_owned()];
    let made = rcgen::generate_simple_self_signed(names).expect("the names are names");
    write(folder, "server", &made.cert.pem(), &made.signing_key.serialize_pem())
}

/// A certificate for these names, signed by itself, and its key, as PEM files of this name.
pub fn for_names(folder: &Path, file: &str, names: &[&str]) -> (PathBuf, PathBuf) {
    let names: Vec<_> = names.iter().map(|&name| name.to_owned()).collect();
    let made = rcgen::generate_simple_self_signed(names).expect("the names are names");
    write(folder, file, &made.cert.pem(), &made.signing_key.serialize_pem())
}

/// A certificate for localhost, signed by itself, that was valid from 2020 to the beginning of a year.
pub fn valid_until(folder: &Path, year: i32) -> (PathBuf, PathBuf) {
    let mut params = CertificateParams::new(["localhost".to_owned(), "127.0.0.1".to_owned()]).expect("names");
    (params.not_before, params.not_after) = (rcgen::date_time_ymd(2020, 1, 1), rcgen::date_time_ymd(year, 1, 1));
    let key = KeyPair::generate().expect("a key can be made");
    let certificate = params.self_signed(&key).expect("it can be signed");
    write(folder, "old", &certificate.pem(), &key.serialize_pem())
}

/// An authority, and a client's certificate that it has signed: its certificate; the client's, and its key.
pub fn client_of_an_authority(folder: &Path) -> (PathBuf, PathBuf, PathBuf) {
    let mut params = CertificateParams::default();
    params.distinguished_name.push(DnType::CommonName, "authority.test");
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let key = KeyPair::generate().expect("a key can be made");
    let authority = CertifiedIssuer::self_signed(params, key).expect("it is an authority");
    let mut params = CertificateParams::new(["client.test".to_owned()]).expect("the name is a name");
    params.distinguished_name.push(DnType::CommonName, "client.test");
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
    let key = KeyPair::generate().expect("a key can be made");
    let client = params.signed_by(&key, &authority).expect("it can be signed");
    let (certificate, key) = write(folder, "client", &client.pem(), &key.serialize_pem());
    let path = folder.join("authority.pem");
    std::fs::write(&path, authority.pem()).expect("a file can be written");
    (path, certificate, key)
}

fn write(folder: &Path, name: &str, certificate: &str, key: &str) -> (PathBuf, PathBuf) {
    let paths = (folder.join(format!("{name}.pem")), folder.join(format!("{name}.key")));
    std::fs::write(&paths.0, certificate).expect("a file can be written");
    std::fs::write(&paths.1, key).expect("a file can be written");
    paths
}
