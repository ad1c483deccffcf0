//! Private keys in PEM that a password protects by the fields of RFC 1421, as OpenSSL has written them.

use aes::{Aes128, Aes192, Aes256};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use cbc::cipher::block_padding::Pkcs7;
use cbc::cipher::{BlockModeDecrypt, KeyIvInit};
use md5::{Digest, Md5};

/// The number of bytes of a block of AES.
const BLOCK: usize = 16;

/// Returns a private key in PEM without its protection; as it is, if there is no password.
///
/// # Errors
/// If the key cannot be decrypted with the password.
pub(super) fn decrypted(pem: &str, password: Option<&str>) -> Result<String, String> {
    let Some(password) = password else { return Ok(pem.to_owned()) };
    let text = pem.replace("\r\n", "\n");
    let wrong = || "expected a private key in PEM".to_owned();
    let begin = text.find("-----BEGIN ").ok_or_else(wrong)? + "-----BEGIN ".len();
    let (kind, rest) = text[begin..].split_once("-----\n").ok_or_else(wrong)?;
    if kind == "ENCRYPTED PRIVATE KEY" {
        let use_instead = "decrypt it with 'openssl pkey -in FILE -out FILE', and leave the password out";
        return Err(format!("a key in PKCS #8 with a password is not supported: {use_instead}"));
    }
    let (content, _) = rest.split_once(&format!("-----END {kind}-----")).ok_or_else(wrong)?;
    let (fields, content) = content.split_once("\n\n").ok_or("it is not encrypted: leave the password out")?;
    let info = fields.lines().find_map(|line| line.strip_prefix("DEK-Info: ")).ok_or_else(wrong)?;
    let (cipher, iv) = info.split_once(',').ok_or_else(wrong)?;
    let iv = bytes_of_hex(iv.trim()).filter(|iv| iv.len() == BLOCK).ok_or_else(wrong)?;
    let content: String = content.split_whitespace().collect();
    let content = BASE64_STANDARD.decode(content).map_err(|_| wrong())?;
    let key = |length| derived(password.as_bytes(), &iv[..8], length);
    macro_rules! decrypt {
        ($cipher:ty, $length:literal) => {
            cbc::Decryptor::<$cipher>::new_from_slices(&key($length), &iv)
                .ok()
                .and_then(|cipher| cipher.decrypt_padded_vec::<Pkcs7>(&content).ok())
        };
    }
    let plain = match cipher {
        "AES-128-CBC" => decrypt!(Aes128, 16),
        "AES-192-CBC" => decrypt!(Aes192, 24),
        "AES-256-CBC" => decrypt!(Aes256, 32),
        other => return Err(format!("a key encrypted with {other} is not supported: use AES-256-CBC")),
    };
    let plain = plain.ok_or("the password is wrong")?;
    Ok(format!("-----BEGIN {kind}-----\n{}\n-----END {kind}-----\n", BASE64_STANDARD.encode(plain)))
}

/// Returns a key that OpenSSL derives from a password (EVP_BytesToKey with MD5 and one round).
fn derived(password: &[u8], salt: &[u8], length: usize) -> Vec<u8> {
    let mut key: Vec<u8> = Vec::new();
    while key.len() < length {
        let before = key.len().saturating_sub(16);
        let digest = Md5::new().chain_update(&key[before..]).chain_update(password).chain_update(salt).finalize();
        key.extend_from_slice(&digest);
    }
    key.truncate(length);
    key
}

fn bytes_of_hex(text: &str) -> Option<Vec<u8>> {
    if !text.is_ascii() || !text.len().is_multiple_of(2) {
        return None;
    }
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    // Both by `openssl ec`, which protects the same key with the password `secret`.
    const PLAIN: &str = "MHcCAQEEIHb4oAFTHKunrTiSHkv5+LoMPApy4UPw7KDgRImK8UuKoAoGCCqGSM49AwEHoUQDQgAEdSLRq7H156mv2iB96Vn39ZTsWvvyzk2pFgAP59PdWaNkcJnI1pU0r2yGj3ofMpi+HctEEB13Uq6GDsBlovUkzQ==";
    const AES_256: &str = "-----BEGIN EC PRIVATE KEY-----
Proc-Type: 4,ENCRYPTED
DEK-Info: AES-256-CBC,C861F9B0FE9A694AE9F0539A0C332505

cxRefBZMJB9nVzcPXkCywHiPDY+ECuqckPG8VPL8uWCInGD913fbVzS/Ecs9H8zL
g+/8exsj/2luhcUxO6hj/VfCRONXhrbPvG+SE8FQr1384/zc64eKd/RERB57wotD
uaEOOyAqIT+n3ho2/1JyxIjxX4CABXKjnz9CpqPcqHA=
-----END EC PRIVATE KEY-----
";
    const AES_128: &str = "-----BEGIN EC PRIVATE KEY-----
Proc-Type: 4,ENCRYPTED
DEK-Info: AES-128-CBC,B4CDFB771E571BD9B6D674A87E6159BC

Cet1Fwq68CFTHGAh3YDSybJMRm1/EOC4iv3GI+gBUDmokGw+KPWu5tXykjlEW/LG
nITexf9wSmu061LqkregeTYPc84MNLz++sHdCKzYNR+LVftzDKjWreCfzijdlMkQ
Nf6p3So+Zh3lzbV8fXiyHGLEdG1znMHcYlIfMVKnrSM=
-----END EC PRIVATE KEY-----
";

    #[test]
    fn keys_are_decrypted_by_their_password() {
        let plain = format!("-----BEGIN EC PRIVATE KEY-----\n{PLAIN}\n-----END EC PRIVATE KEY-----\n");
        for pem in [AES_256, AES_128, &AES_256.replace('\n', "\r\n")] {
            assert_eq!(decrypted(pem, Some("secret")).as_deref(), Ok(plain.as_str()));
        }
        assert_eq!(decrypted(AES_256, None).as_deref(), Ok(AES_256));
    }

    #[test]
    fn what_cannot_be_decrypted_says_why() {
        let pkcs8 = "-----BEGIN ENCRYPTED PRIVATE KEY-----\nMIIB\n-----END ENCRYPTED PRIVATE KEY-----\n";
        let plain = format!("-----BEGIN EC PRIVATE KEY-----\n{PLAIN}\n-----END EC PRIVATE KEY-----\n");
        for (pem, password, why) in [
            (AES_256, "other", "the password is wrong"),
            (&*AES_256.replace("AES-256-CBC", "DES-EDE3-CBC"), "secret", "DES-EDE3-CBC is not supported"),
            (pkcs8, "secret", "PKCS #8"),
            (&*plain, "secret", "not encrypted"),
            ("", "secret", "expected a private key in PEM"),
            ("-----BEGIN X-----\nDEK-Info: AES-128-CBC,é0\n\nx\n-----END X-----", "secret", "expected a private key"),
        ] {
            let found = decrypted(pem, Some(password));
            assert!(found.as_ref().is_err_and(|error| error.contains(why)), "{why}: {found:?}");
        }
    }
}
