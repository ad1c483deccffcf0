//! Which kind of key a certificate is for.

/// The DER form of the object identifiers that a certificate names its own key by (RFC 3279, sections 2.3.1 and 2.3.5; RFC 8410,
/// section 3). Those of signatures are others, but for that of Ed25519, which has one kind of key only.
const ALGORITHMS: [(&str, &[u8]); 3] = [
    ("RSA", &[0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01]),
    ("ECDSA", &[0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01]),
    ("Ed25519", &[0x06, 0x03, 0x2b, 0x65, 0x70]),
];

/// The kind of key that a certificate in DER is for. `None` for a kind that is not known here.
pub(super) fn algorithm(certificate: &[u8]) -> Option<&'static str> {
    let has = |identifier: &[u8]| certificate.windows(identifier.len()).any(|window| window == identifier);
    ALGORITHMS.iter().find(|(_, identifier)| has(identifier)).map(|(name, _)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kind_of_key_is_told() {
        for (made, expected) in [(&rcgen::PKCS_ECDSA_P256_SHA256, "ECDSA"), (&rcgen::PKCS_ED25519, "Ed25519")] {
            let key = rcgen::KeyPair::generate_for(made).expect("a key can be made");
            let params = rcgen::CertificateParams::new(["a.test".to_owned()]).expect("the name is a name");
            let certificate = params.self_signed(&key).expect("it can be signed");
            assert_eq!(algorithm(certificate.der()), Some(expected));
        }
        // The beginning of the subject's public key in a certificate for RSA.
        assert_eq!(algorithm(b"\x30\x0d\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x01\x01\x05\x00\x03"), Some("RSA"));
        // A signature by RSA with SHA-256 says nothing of the certificate's own key.
        assert_eq!(algorithm(b"\x30\x0d\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x01\x0b\x05\x00\x03"), None);
    }
}
