//! Whether a server's certificate is to be trusted, where the library's own rules do not do.

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{WebPkiServerVerifier, verify_server_name};
use rustls::crypto::{WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{DigitallySignedStruct, SignatureScheme};
use std::sync::Arc;

/// Believes certificates by rules of its own, but has every server prove that it holds the key.
#[derive(Debug)]
pub(super) struct Trust {
    pub rule: Rule,
    pub algorithms: WebPkiSupportedAlgorithms,
}

/// Which certificates are believed.
#[derive(Debug)]
pub(super) enum Rule {
    /// All of them.
    Anybody,
    /// The very ones that were given, and what they have signed. The first is what a self-signed certificate needs that
    /// says of itself that it may sign others: as that of a server it is not taken otherwise.
    GivenOrSigned(Vec<CertificateDer<'static>>, Arc<WebPkiServerVerifier>),
}

impl ServerCertVerifier for Trust {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        match &self.rule {
            Rule::Anybody => Ok(ServerCertVerified::assertion()),
            Rule::GivenOrSigned(given, _) if given.contains(certificate) => {
                verify_server_name(&ParsedCertificate::try_from(certificate)?, name)?;
                Ok(ServerCertVerified::assertion())
            }
            Rule::GivenOrSigned(_, signed) => signed.verify_server_cert(certificate, intermediates, name, ocsp, now),
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, certificate, signature, &self.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signature, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}
