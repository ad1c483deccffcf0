//! The algorithm of a certificate's public key, and keys that are too short.

use thiserror::Error;

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

/// The bits of the shortest RSA keys whose signatures the providers of cryptography verify.
const SHORTEST_RSA: usize = 2048;

/// An RSA key that is too short to be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("has an RSA key of {0} bits, or is signed with one: at least {SHORTEST_RSA} bits are required")]
pub(super) struct ShortKey(usize);

impl ShortKey {
    /// Returns the key of a certificate in DER if it is too short.
    pub fn of(certificate: &[u8]) -> Option<Self> {
        rsa_bits(certificate).filter(|bits| *bits < SHORTEST_RSA).map(Self)
    }
}

/// Returns the length in bits of the RSA key of a certificate in DER (RFC 8017, appendix A.1.1).
fn rsa_bits(certificate: &[u8]) -> Option<usize> {
    const NULL: &[u8] = &[0x05, 0x00];
    let (_, rsa) = ALGORITHMS[0];
    let at = certificate.windows(rsa.len()).position(|window| window == rsa)?;
    let key = certificate[at + rsa.len()..].strip_prefix(NULL)?;
    // A bit string without unused bits, in which is a sequence, the first element of which is the modulus.
    let key = content(key, 0x03)?.strip_prefix(&[0])?;
    let modulus = content(content(key, 0x30)?, 0x02)?;
    let first = modulus.iter().position(|byte| *byte != 0)?;
    let modulus = &modulus[first..];
    Some(modulus.len() * 8 - modulus[0].leading_zeros() as usize)
}

/// Returns the content of the element with this tag at the beginning of DER (ITU-T X.690, section 8.1).
fn content(der: &[u8], tag: u8) -> Option<&[u8]> {
    let (length, rest) = match *der.strip_prefix(&[tag])? {
        [length @ 0..=0x7f, ref rest @ ..] => (usize::from(length), rest),
        [0x81, length, ref rest @ ..] => (usize::from(length), rest),
        [0x82, high, low, ref rest @ ..] => (usize::from(u16::from_be_bytes([high, low])), rest),
        _ => return None,
    };
    rest.get(..length)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the subject's public key of a certificate for an RSA key whose modulus has this many bytes.
    fn rsa_key(bytes: usize) -> Vec<u8> {
        let element = |tag: u8, content: &[u8]| {
            let length = u16::try_from(content.len()).expect("it is short").to_be_bytes();
            [&[tag, 0x82], &length[..], content].concat()
        };
        let modulus = element(0x02, &[&[0, 0x80], &vec![1; bytes - 1][..]].concat());
        let numbers = element(0x30, &[&modulus[..], &[0x02, 0x03, 1, 0, 1]].concat());
        [ALGORITHMS[0].1, &[0x05, 0x00], &element(0x03, &[&[0], &numbers[..]].concat())].concat()
    }

    #[test]
    fn an_rsa_key_that_is_too_short_has_its_length() {
        assert_eq!(ShortKey::of(&rsa_key(128)), Some(ShortKey(1024)));
        assert_eq!([256, 384, 512].map(|bytes| ShortKey::of(&rsa_key(bytes))), [None; 3]);
        let key = rsa_key(128);
        for end in 0..key.len() - 5 {
            assert!(ShortKey::of(&key[..end]).is_none(), "{end}");
        }
    }

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
