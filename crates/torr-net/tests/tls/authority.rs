//! A certificate authority for the tests.

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, SignatureAlgorithm};
use std::path::PathBuf;
use tempfile::TempDir;
use torr_net::tls::{Roots, ServerTlsSettings, TlsSettings};

/// A certificate authority, and the folder of its files.
pub struct Authority {
    pub folder: TempDir,
    issuer: CertifiedIssuer<'static, KeyPair>,
}

impl Authority {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, "authority.test");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().expect("a key can be made");
        let issuer = CertifiedIssuer::self_signed(params, key).expect("it is an authority");
        std::fs::write(folder.path().join("authority.pem"), issuer.pem()).expect("a file can be written");
        Self { folder, issuer }
    }

    /// Returns the path of the authority's certificate.
    pub fn path(&self) -> PathBuf {
        self.folder.path().join("authority.pem")
    }

    /// Writes a signed certificate for these names and its key to files of this name, and replaces existing ones.
    pub fn identity(&self, file: &str, names: &[&str]) -> (PathBuf, PathBuf) {
        self.identity_by(file, names, &rcgen::PKCS_ECDSA_P256_SHA256)
    }

    /// Writes a signed certificate with a key of the given algorithm.
    pub fn identity_by(&self, file: &str, names: &[&str], kind: &'static SignatureAlgorithm) -> (PathBuf, PathBuf) {
        self.identity_of(file, params(names), kind)
    }

    /// Writes a signed certificate that is valid from 2020 to the beginning of the given year.
    pub fn identity_until(&self, file: &str, names: &[&str], end: i32) -> (PathBuf, PathBuf) {
        let mut params = params(names);
        (params.not_before, params.not_after) = (rcgen::date_time_ymd(2020, 1, 1), rcgen::date_time_ymd(end, 1, 1));
        self.identity_of(file, params, &rcgen::PKCS_ECDSA_P256_SHA256)
    }

    fn identity_of(
        &self,
        file: &str,
        params: CertificateParams,
        kind: &'static SignatureAlgorithm,
    ) -> (PathBuf, PathBuf) {
        let key = KeyPair::generate_for(kind).expect("a key can be made");
        let certificate = params.signed_by(&key, &self.issuer).expect("it can be signed");
        let paths = (self.folder.path().join(format!("{file}.pem")), self.folder.path().join(format!("{file}.key")));
        std::fs::write(&paths.0, certificate.pem()).expect("a file can be written");
        std::fs::write(&paths.1, key.serialize_pem()).expect("a file can be written");
        paths
    }

    /// Returns the settings of a server for localhost.
    pub fn server(&self) -> ServerTlsSettings {
        let (certificate, key) = self.identity("server", &["localhost"]);
        ServerTlsSettings::new(certificate, key)
    }

    /// Returns the settings of a client for localhost that trusts this authority.
    pub fn client(&self) -> TlsSettings {
        TlsSettings { roots: Roots::File(self.path()), ..TlsSettings::new("localhost") }
    }
}

fn params(names: &[&str]) -> CertificateParams {
    let names = names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
    CertificateParams::new(names).expect("the names are names")
}
