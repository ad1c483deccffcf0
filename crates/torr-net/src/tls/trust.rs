//! Verification of a server's certificate beyond the rules of `rustls`.

use super::key::ShortKey;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{WebPkiServerVerifier, verify_server_name};
use rustls::crypto::{WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, DigitallySignedStruct, OtherError, SignatureScheme};
use std::sync::Arc;

/// A verifier with a policy of its own, which still requires every server to prove possession of its key.
#[derive(Debug)]
pub(super) struct PolicyVerifier {
    pub policy: TrustPolicy,
    pub algorithms: WebPkiSupportedAlgorithms,
}

/// The certificates that are accepted.
#[derive(Debug)]
pub(super) enum TrustPolicy {
    /// Any certificate.
    AcceptAny,
    /// The given certificates, and certificates that they have signed.
    ///
    /// `rustls` rejects a server's certificate that is marked as an authority, as many self-signed ones are. The signer of a
    /// given certificate is not verified, but its validity, its purpose and its names are.
    GivenOrSigned(Vec<CertificateDer<'static>>, Arc<WebPkiServerVerifier>),
}

impl ServerCertVerifier for PolicyVerifier {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let verified = match &self.policy {
            TrustPolicy::AcceptAny => Ok(ServerCertVerified::assertion()),
            // Without the server's intermediates: the signer is not verified here.
            TrustPolicy::GivenOrSigned(given, signed) if given.contains(certificate) => {
                match signed.verify_server_cert(certificate, &[], name, ocsp, now) {
                    Err(error) if is_of_the_signer(&error) => {
                        verify_server_name(&ParsedCertificate::try_from(certificate)?, name)?;
                        Ok(ServerCertVerified::assertion())
                    }
                    result => result,
                }
            }
            TrustPolicy::GivenOrSigned(_, signed) => {
                signed.verify_server_cert(certificate, intermediates, name, ocsp, now)
            }
        };
        let given = match &self.policy {
            TrustPolicy::GivenOrSigned(given, _) => given.as_slice(),
            TrustPolicy::AcceptAny => &[],
        };
        verified.map_err(|error| with_key(error, [certificate].into_iter().chain(intermediates).chain(given)))
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let verified = verify_tls12_signature(message, certificate, signature, &self.algorithms);
        verified.map_err(|error| with_key(error, [certificate].into_iter()))
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let verified = verify_tls13_signature(message, certificate, signature, &self.algorithms);
        verified.map_err(|error| with_key(error, [certificate].into_iter()))
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}

/// Returns the error of a signature that cannot be verified. Where a key among these certificates is too short, that is the reason.
fn with_key<'c>(error: rustls::Error, mut certificates: impl Iterator<Item = &'c CertificateDer<'c>>) -> rustls::Error {
    let rustls::Error::InvalidCertificate(
        CertificateError::BadSignature
        | CertificateError::UnsupportedSignatureAlgorithmContext { .. }
        | CertificateError::UnsupportedSignatureAlgorithmForPublicKeyContext { .. },
    ) = error
    else {
        return error;
    };
    match certificates.find_map(|certificate| ShortKey::of(certificate)) {
        Some(short) => rustls::Error::InvalidCertificate(CertificateError::Other(OtherError(Arc::new(short)))),
        None => error,
    }
}

/// Returns whether a certificate is valid except for its signer. `rustls` verifies validity and purpose first, and the
/// signer after them.
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
