//! The algorithm of a certificate's public key.

/// The object identifiers of public keys in DER (RFC 3279, sections 2.3.1 and 2.3.5; RFC 8410, section 3). Those of
/// signatures differ, except Ed25519, whose signatures come from Ed25519 keys only.
const ALGORITHMS: [(&str, &[u8]); 3] = [
    ("RSA", &[0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01]),
    ("ECDSA", &[0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01]),
    ("Ed25519", &[0x06, 0x03, 0x2b, 0x65, 0x70]),
];

/// Returns the algorithm of the public key of a certificate in DER, `None` for an unknown one.
pub(super) fn algorithm(certificate: &[u8]) -> Option<&'static str> {
    let has = |identifier: &[u8]| certificate.windows(identifier.len()).any(|window| window == identifier);
    ALGORITHMS.iter().find(|(_, identifier)| has(identifier)).map(|(name, _)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_algorithm_is_that_of_the_public_key() {
        for (made, expected) in [(&rcgen::PKCS_ECDSA_P256_SHA256, "ECDSA"), (&rcgen::PKCS_ED25519, "Ed25519")] {
            let key = rcgen::KeyPair::generate_for(made).expect("a key can be made");
            let params = rcgen::CertificateParams::new(["a.test".to_owned()]).expect("the name is a name");
            let certificate = params.self_signed(&key).expect("it can be signed");
            assert_eq!(algorithm(certificate.der()), Some(expected));
        }
        // The beginning of the subject's public key in a certificate for RSA.
        assert_eq!(algorithm(b"\x30\x0d\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x01\x01\x05\x00\x03"), Some("RSA"));
        // The identifier of a signature by RSA with SHA-256 does not count.
        assert_eq!(algorithm(b"\x30\x0d\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x01\x0b\x05\x00\x03"), None);
    }
}
