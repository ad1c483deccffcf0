//! Whether a server's certificate is to be trusted, where the library's own rules do not do.

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{WebPkiServerVerifier, verify_server_name};
use rustls::crypto::{WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, DigitallySignedStruct, OtherError, SignatureScheme};
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
    AcceptAny,
    /// The very ones that were given, and what they have signed. The first is what a self-signed certificate needs that
    /// says of itself that it may sign others: as that of a server it is not taken otherwise. Whoever has signed one that was
    /// given does not matter; its validity, its purpose and its names do.
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
            Rule::AcceptAny => Ok(ServerCertVerified::assertion()),
            // Without what the server says of its signers: they do not matter here.
            Rule::GivenOrSigned(given, signed) if given.contains(certificate) => {
                match signed.verify_server_cert(certificate, &[], name, ocsp, now) {
                    Err(error) if is_of_the_signer(&error) => {
                        verify_server_name(&ParsedCertificate::try_from(certificate)?, name)?;
                        Ok(ServerCertVerified::assertion())
                    }
                    result => result,
                }
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

/// Whether a certificate lacks nothing but a signer who is trusted. The library looks at the certificate itself first,
/// validity and purpose before all else, and at who has signed it only then.
fn is_of_the_signer(error: &rustls::Error) -> bool {
    let rustls::Error::InvalidCertificate(why) = error else { return false };
    match why {
        CertificateError::UnknownIssuer
        | CertificateError::BadSignature
        | CertificateError::UnsupportedSignatureAlgorithmContext { .. }
        | CertificateError::UnsupportedSignatureAlgorithmForPublicKeyContext { .. } => true,
        CertificateError::Other(OtherError(why)) => {
            matches!(why.downcast_ref(), Some(webpki::Error::CaUsedAsEndEntity))
        }
        _ => false,
    }
}
