//! Keys derived from others: PBKDF2 (RFC 8018) and HKDF (RFC 5869).

use super::super::crypto::{Algorithm as Hash, Hasher, hash, hmac};

/// Most rounds of PBKDF2: seconds of computing, during which other virtual users of the thread wait.
pub(super) const MAX_ROUNDS: usize = 10_000_000;
/// Most bytes that are derived at once.
pub(super) const MAX_LENGTH: usize = 4096;

/// Returns `length` bytes that PBKDF2 derives from a password.
pub(super) fn pbkdf2(algorithm: Hash, password: &[u8], salt: &[u8], rounds: usize, length: usize) -> Vec<u8> {
    // A key that is longer than a block is hashed once here, not in each round.
    let key = if password.len() > algorithm.block() { hash(algorithm, password) } else { password.to_vec() };
    let mut derived = Vec::new();
    let mut number = 0u32;
    while derived.len() < length {
        number += 1;
        let mut first = Hasher::keyed(algorithm, &key);
        first.update(salt);
        first.update(&number.to_be_bytes());
        let mut value = first.value();
        let mut block = value.clone();
        for _ in 1..rounds {
            value = hmac(algorithm, &key, &value);
            block.iter_mut().zip(&value).for_each(|(sum, byte)| *sum ^= byte);
        }
        derived.extend(block);
    }
    derived.truncate(length);
    derived
}

/// Returns `length` bytes that HKDF derives from a key; `None` if it is more than 255 hashes.
pub(super) fn hkdf(algorithm: Hash, key: &[u8], salt: &[u8], info: &[u8], length: usize) -> Option<Vec<u8>> {
    let extracted = hmac(algorithm, salt, key);
    let (mut derived, mut value) = (Vec::new(), Vec::new());
    let mut number = 0u8;
    while derived.len() < length {
        number = number.checked_add(1)?;
        let mut next = Hasher::keyed(algorithm, &extracted);
        next.update(&value);
        next.update(info);
        next.update(&[number]);
        value = next.value();
        derived.extend_from_slice(&value);
    }
    derived.truncate(length);
    Some(derived)
}
