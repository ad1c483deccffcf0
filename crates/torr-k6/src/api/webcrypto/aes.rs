//! AES in the modes CBC, CTR and GCM.

use aes_gcm::aead::consts::U12;
use aes_gcm::aead::{Aead, Payload};
use aes_gcm::{AesGcm, KeyInit};
use cbc::cipher::block_padding::Pkcs7;
use cbc::cipher::{BlockModeDecrypt, BlockModeEncrypt, KeyIvInit, StreamCipher};

use aes::{Aes128, Aes192, Aes256};

/// Whether data is encrypted or decrypted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    Encrypt,
    Decrypt,
}

/// Runs `$body` with `$cipher` as the AES of the key's length.
macro_rules! by_key_length {
    ($key:expr, $cipher:ident, $body:expr) => {
        match $key.len() {
            16 => {
                type $cipher = Aes128;
                $body
            }
            24 => {
                type $cipher = Aes192;
                $body
            }
            32 => {
                type $cipher = Aes256;
                $body
            }
            _ => Err("an AES key has 128, 192 or 256 bits".to_owned()),
        }
    };
}

/// Encrypts or decrypts with cipher block chaining, padded by PKCS #7.
pub(super) fn cbc(direction: Direction, key: &[u8], iv: &[u8], data: &[u8]) -> Result<Vec<u8>, String> {
    let wrong = |_| "the initialisation vector must have 16 bytes".to_owned();
    by_key_length!(
        key,
        Cipher,
        match direction {
            Direction::Encrypt => {
                let cipher = cbc::Encryptor::<Cipher>::new_from_slices(key, iv).map_err(wrong)?;
                Ok(cipher.encrypt_padded_vec::<Pkcs7>(data))
            }
            Direction::Decrypt => {
                let cipher = cbc::Decryptor::<Cipher>::new_from_slices(key, iv).map_err(wrong)?;
                cipher.decrypt_padded_vec::<Pkcs7>(data).map_err(|_| "decryption failed".to_owned())
            }
        }
    )
}

/// Encrypts or decrypts, which is the same, in counter mode. `length` is the number of the counter's bits.
pub(super) fn ctr(key: &[u8], counter: &[u8], length: usize, data: &[u8]) -> Result<Vec<u8>, String> {
    let wrong = |_| "the counter must have 16 bytes".to_owned();
    let mut text = data.to_vec();
    by_key_length!(key, Cipher, {
        let done = match length {
            32 => ctr::Ctr32BE::<Cipher>::new_from_slices(key, counter).map_err(wrong)?.try_apply_keystream(&mut text),
            64 => ctr::Ctr64BE::<Cipher>::new_from_slices(key, counter).map_err(wrong)?.try_apply_keystream(&mut text),
            // Shorter counters wrap earlier only; no data of a script is long enough for that from 32 bits on.
            33..=128 => {
                ctr::Ctr128BE::<Cipher>::new_from_slices(key, counter).map_err(wrong)?.try_apply_keystream(&mut text)
            }
            _ => return Err("a counter of fewer than 32 or more than 128 bits is not supported".to_owned()),
        };
        done.map_err(|_| "the data is longer than the counter allows".to_owned())
    })?;
    Ok(text)
}

/// Encrypts or decrypts in Galois counter mode with a tag of 16 bytes behind the text.
pub(super) fn gcm(
    direction: Direction,
    key: &[u8],
    iv: &[u8],
    associated: &[u8],
    data: &[u8],
) -> Result<Vec<u8>, String> {
    let iv: &[u8; 12] = iv
        .try_into()
        .map_err(|_| "an initialisation vector of other than 12 bytes is not supported for AES-GCM".to_owned())?;
    by_key_length!(key, Cipher, {
        let cipher = AesGcm::<Cipher, U12>::new_from_slice(key).map_err(|_| "invalid key length".to_owned())?;
        let payload = Payload { msg: data, aad: associated };
        match direction {
            Direction::Encrypt => cipher.encrypt(iv.into(), payload),
            Direction::Decrypt => cipher.decrypt(iv.into(), payload),
        }
        .map_err(|_| match direction {
            Direction::Encrypt => "encryption failed".to_owned(),
            Direction::Decrypt => "decryption failed: the data or the tag was changed".to_owned(),
        })
    })
}
