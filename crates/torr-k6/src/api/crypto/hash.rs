//! Hash algorithms by name, and HMAC over any of them.

use md4::Md4;
use md5::Md5;
use ripemd::Ripemd160;
use sha1::Sha1;
use sha2::digest::{Digest, DynDigest};
use sha2::{Sha256, Sha384, Sha512, Sha512_224, Sha512_256};

/// A hash algorithm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Algorithm {
    /// MD4.
    Md4,
    /// MD5.
    Md5,
    /// SHA-1.
    Sha1,
    /// SHA-256.
    Sha256,
    /// SHA-384.
    Sha384,
    /// SHA-512.
    Sha512,
    /// SHA-512/224.
    Sha512Short224,
    /// SHA-512/256.
    Sha512Short256,
    /// RIPEMD-160.
    Ripemd160,
}

/// The algorithms by the names that scripts call them.
pub(in crate::api) const ALGORITHMS: &[(&str, Algorithm)] = &[
    ("md4", Algorithm::Md4),
    ("md5", Algorithm::Md5),
    ("sha1", Algorithm::Sha1),
    ("sha256", Algorithm::Sha256),
    ("sha384", Algorithm::Sha384),
    ("sha512", Algorithm::Sha512),
    ("sha512_224", Algorithm::Sha512Short224),
    ("sha512_256", Algorithm::Sha512Short256),
    ("ripemd160", Algorithm::Ripemd160),
];

/// Returns the algorithm that scripts call `name`.
pub(in crate::api) fn named(name: &str) -> Option<Algorithm> {
    ALGORITHMS.iter().find(|(known, _)| *known == name).map(|(_, algorithm)| *algorithm)
}

impl Algorithm {
    fn hasher(self) -> Box<dyn DynDigest> {
        match self {
            Algorithm::Md4 => Box::new(Md4::new()),
            Algorithm::Md5 => Box::new(Md5::new()),
            Algorithm::Sha1 => Box::new(Sha1::new()),
            Algorithm::Sha256 => Box::new(Sha256::new()),
            Algorithm::Sha384 => Box::new(Sha384::new()),
            Algorithm::Sha512 => Box::new(Sha512::new()),
            Algorithm::Sha512Short224 => Box::new(Sha512_224::new()),
            Algorithm::Sha512Short256 => Box::new(Sha512_256::new()),
            Algorithm::Ripemd160 => Box::new(Ripemd160::new()),
        }
    }

    /// Returns the size of the blocks that the algorithm processes, in bytes.
    pub(in crate::api) fn block(self) -> usize {
        match self {
            Algorithm::Sha384 | Algorithm::Sha512 | Algorithm::Sha512Short224 | Algorithm::Sha512Short256 => 128,
            _ => 64,
        }
    }
}

/// A hash or an HMAC that is fed piece by piece.
pub struct Hasher {
    algorithm: Algorithm,
    inner: Box<dyn DynDigest>,
    /// The key's outer block, of an HMAC.
    outer: Option<Vec<u8>>,
}

impl Hasher {
    /// Returns a hash of nothing yet.
    pub fn new(algorithm: Algorithm) -> Self {
        Hasher { algorithm, inner: algorithm.hasher(), outer: None }
    }

    /// Returns an HMAC (RFC 2104) of nothing yet.
    pub fn keyed(algorithm: Algorithm, key: &[u8]) -> Self {
        let mut block = if key.len() > algorithm.block() { hash(algorithm, key) } else { key.to_vec() };
        block.resize(algorithm.block(), 0);
        let mut hasher = Hasher::new(algorithm);
        let inner: Vec<u8> = block.iter().map(|byte| byte ^ 0x36).collect();
        hasher.inner.update(&inner);
        hasher.outer = Some(block.iter().map(|byte| byte ^ 0x5c).collect());
        hasher
    }

    /// Adds data.
    pub fn update(&mut self, data: &[u8]) {
        self.inner.update(data);
    }

    /// Returns the value of all data so far. More data may follow.
    pub fn value(&self) -> Vec<u8> {
        let inner = self.inner.box_clone().finalize().into_vec();
        let Some(outer) = &self.outer else { return inner };
        let mut hasher = self.algorithm.hasher();
        hasher.update(outer);
        hasher.update(&inner);
        hasher.finalize().into_vec()
    }
}

/// Returns the hash of `data`.
pub fn hash(algorithm: Algorithm, data: &[u8]) -> Vec<u8> {
    let mut hasher = algorithm.hasher();
    hasher.update(data);
    hasher.finalize().into_vec()
}

/// Returns the HMAC of `data`.
pub fn hmac(algorithm: Algorithm, key: &[u8], data: &[u8]) -> Vec<u8> {
    let mut hasher = Hasher::keyed(algorithm, key);
    hasher.update(data);
    hasher.value()
}
