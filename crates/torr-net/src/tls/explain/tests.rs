//! Each error of `rustls` that a user is likely to meet has a readable line.

use super::*;
use rustls::pki_types::{ServerName, UnixTime};
use std::sync::Arc;

fn at(seconds: u64) -> UnixTime {
    UnixTime::since_unix_epoch(Duration::from_secs(seconds))
}

fn other_of(error: webpki::Error) -> CertificateError {
    CertificateError::Other(OtherError(Arc::new(error)))
}

/// Each likely error, with words of its line for the fault and for the remedy.
#[test]
fn each_error_is_one_line_with_what_and_what_to_do() {
    use AlertDescription as A;
    let p384_by_sha512 = [6, 8, 42, 134, 72, 206, 61, 4, 3, 4];
    let p521 = [6, 7, 42, 134, 72, 206, 61, 2, 1, 6, 5, 43, 129, 4, 0, 35];
    let name_of = |n: usize| if n == 1 { "IpAddress(::1)".to_owned() } else { format!("DnsName(\"{n}.test\")") };
    let names = |count: usize| (0..count).map(name_of).collect::<Vec<_>>();
    let name = || ServerName::try_from("other.test").expect("it is a name");
    let for_names = |count| CertificateError::NotValidForNameContext { expected: name(), presented: names(count) };
    for (error, what, remedy) in [
        (Error::from(CertificateError::UnknownIssuer), "not signed by a trusted authority", "--cacert"),
        (other_of(webpki::Error::CaUsedAsEndEntity).into(), "of an authority", "--cacert"),
        (
            CertificateError::ExpiredContext { time: at(1 << 31), not_after: at(1_000_000_000) }.into(),
            "expired on 2001-09-09 01:46:40 UTC",
            "renew it",
        ),
        (
            CertificateError::NotValidYetContext { time: at(0), not_before: at(1_000_000_000) }.into(),
            "not valid before 2001-09-09 01:46:40 UTC",
            "clock",
        ),
        (for_names(0).into(), "for no name", "--sni"),
        (for_names(2).into(), "is valid for 0.test, ::1, not for other.test", "--sni"),
        (for_names(9).into(), "is valid for 0.test, ::1, 2.test and 6 others, not for other.test", "--sni"),
        (
            CertificateError::UnsupportedSignatureAlgorithmForPublicKeyContext {
                signature_algorithm_id: p384_by_sha512.to_vec(),
                public_key_algorithm_id: p521.to_vec(),
            }
            .into(),
            "(ECDSA with SHA-512, key: ECDSA P-521)",
            "ECDSA P-256",
        ),
        (
            CertificateError::UnsupportedSignatureAlgorithmContext {
                signature_algorithm_id: vec![6, 9, 42, 134, 72, 134, 247, 13, 1, 1, 5],
                supported_algorithms: vec![],
            }
            .into(),
            "(RSA with SHA-1)",
            "SHA-256",
        ),
        (CertificateError::InvalidPurpose.into(), "extended key usage", "--insecure"),
        (CertificateError::BadSignature.into(), "does not match the issuer's certificate", "--cacert"),
        (other_of(webpki::Error::NameConstraintViolation).into(), "(NameConstraintViolation)", "--insecure"),
        (Error::AlertReceived(A::HandshakeFailure), "none of the offered cipher suites", "alert: handshake_failure"),
        (Error::AlertReceived(A::ProtocolVersion), "TLS versions", "--tls-max"),
        (Error::AlertReceived(A::UnrecognisedName), "unrecognized_name", "--sni"),
        (Error::AlertReceived(A::CertificateRequired), "client certificate", "--cert and --key"),
        (Error::AlertReceived(A::UnknownCA), "unknown_ca", "--cert"),
        (Error::AlertReceived(A::DecodeError), "the server closed the connection", "decode_error"),
        (Error::AlertReceived(A::NoApplicationProtocol), "does not support", "ALPN"),
        (PeerIncompatible::NoCipherSuitesInCommon.into(), "no common cipher suite", "the server"),
        (PeerIncompatible::ServerDoesNotSupportTls12Or13.into(), "no common TLS version", "the server"),
        (Error::InvalidMessage(InvalidMessage::InvalidContentType), "does not use TLS", "http://"),
        (
            Error::PeerMisbehaved(rustls::PeerMisbehaved::MessageInterleavedWithHandshakeMessage),
            "violated the TLS protocol",
            "(M",
        ),
    ] {
        let line = to_client(error).to_string();
        assert!(line.contains(what) && line.contains(remedy), "{line:?} has not {what:?} and {remedy:?}");
        assert!(!line.contains(['{', '[', '\n']), "it shows the library's insides: {line}");
    }
}

#[test]
fn identifiers_without_a_name_are_numbers() {
    let text = |der: &[u8]| Oid(der).to_string();
    assert_eq!(text(&[6, 9, 0x60, 0x86, 0x48, 0x01, 0x65, 3, 4, 3, 17]), "OID 2.16.840.1.101.3.4.3.17");
    assert_eq!(text(&[6, 3, 43, 101, 112]), "Ed25519");
    for garbage in [&[][..], &[6], &[6, 9, 1], &[48, 3, 6, 1, 1], &[6, 0x81, 1, 1]] {
        assert_eq!(text(garbage), "an unnamed algorithm", "{garbage:?}");
    }
    // A number that exceeds 64 bits must not panic.
    assert!(text(&[[6, 40].as_slice(), &[0xff; 39], &[0x7f]].concat()).starts_with("OID "));
}
