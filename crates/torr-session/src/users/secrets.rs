//! Values that no output shows.

/// What stands in the place of a secret.
const MASK: &str = "***";

/// The secrets of a run.
#[derive(Debug, Clone, Default)]
pub struct Secrets {
    /// The longest first, so that a secret that contains another is masked whole.
    values: Vec<String>,
}

impl Secrets {
    /// Returns the secrets with these values. An empty value hides nothing.
    pub fn new(values: impl IntoIterator<Item = String>) -> Self {
        let mut values: Vec<_> = values.into_iter().filter(|value| !value.is_empty()).collect();
        values.sort_by_key(|value| std::cmp::Reverse(value.len()));
        Self { values }
    }

    /// Returns these secrets and further ones.
    pub fn with(&self, further: impl IntoIterator<Item = String>) -> Self {
        Self::new(self.values.iter().cloned().chain(further))
    }

    /// Returns a text with each secret in it masked.
    pub fn mask(&self, mut text: String) -> String {
        for secret in &self.values {
            if text.contains(secret.as_str()) {
                text = text.replace(secret.as_str(), MASK);
            }
        }
        text
    }

    /// Masks the secrets in bytes that are mostly text.
    pub fn mask_bytes<'b>(&self, bytes: &'b [u8]) -> std::borrow::Cow<'b, [u8]> {
        let text = String::from_utf8_lossy(bytes);
        let is_clean = !self.values.iter().any(|secret| text.contains(secret.as_str()));
        if is_clean { bytes.into() } else { self.mask(text.into_owned()).into_bytes().into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_masked_wherever_they_stand() {
        let secrets = Secrets::new(["key".to_owned(), String::new(), "key-long".to_owned()]);
        assert_eq!(secrets.mask("a key, a key-long, keykey".to_owned()), "a ***, a ***, ******");
        assert_eq!(secrets.mask_bytes(b"x-api: key\xff").as_ref(), "x-api: ***\u{fffd}".as_bytes());
        assert_eq!(secrets.mask_bytes(b"\xff").as_ref(), b"\xff");
    }
}
