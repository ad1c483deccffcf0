//! The digest of a file: what agents and coordinators know files by.

use serde::{Deserialize, Serialize};
use sha2::Sha256;
use std::fmt;

/// The number of hexadecimal digits of a SHA-256.
const DIGITS: usize = 64;

/// The SHA-256 of a content in 64 hexadecimal digits, in lower case.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Digest(String);

impl Digest {
    /// Returns the digest of a content.
    pub fn of(content: &[u8]) -> Self {
        use sha2::Digest as _;
        Self(Sha256::digest(content).iter().map(|byte| format!("{byte:02x}")).collect())
    }
}

impl TryFrom<String> for Digest {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        match text.len() == DIGITS && text.bytes().all(is_digit) {
            true => Ok(Self(text)),
            false => Err("a digest must be 64 hexadecimal digits in lower case"),
        }
    }
}

impl From<Digest> for String {
    fn from(digest: Digest) -> Self {
        digest.0
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_is_64_hexadecimal_digits() {
        let empty = Digest::of(b"");
        assert!(empty.to_string().starts_with("e3b0c442"), "{empty}");
        assert_eq!(Digest::try_from(empty.to_string()), Ok(empty));
        for bad in ["".to_owned(), "0".repeat(63), "0".repeat(65), "G".repeat(64), "A".repeat(64), "é".repeat(32)] {
            assert!(Digest::try_from(bad.clone()).is_err(), "{bad}");
        }
    }
}
