//! A bearer token (RFC 6750) that is renewed during a run.

use std::any::Any;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock, Weak};

/// The longest token, in bytes: a header section is seldom allowed to be longer.
const LONGEST: usize = 16 * 1024;
/// The number of past tokens that are kept to be masked in outputs.
const MOST_KEPT: usize = 16;

/// A token that all requests send, each the one that is valid when it is written. Clones share it.
#[derive(Clone)]
pub struct Token(Arc<Shared>);

struct Shared {
    /// The tokens, the latest one first.
    values: RwLock<Vec<Arc<str>>>,
    /// How often the token was renewed.
    renewals: AtomicU64,
    /// The reason for which it was not renewed the last time.
    failure: RwLock<Option<String>>,
    /// What renews the token, and ends with the last clone of it.
    _renewed_by: Box<dyn Any + Send + Sync>,
}

/// What renews a token, as long as there is one.
#[derive(Clone)]
pub struct Renewal(Weak<Shared>);

/// A text that is no token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a token must be printable ASCII of at most {} KiB", LONGEST / 1024)]
pub struct TokenError;

/// Returns a text that is a token.
fn checked(value: &str) -> Result<Arc<str>, TokenError> {
    let is_token = !value.is_empty() && value.len() <= LONGEST && value.bytes().all(|byte| byte.is_ascii_graphic());
    if is_token { Ok(value.into()) } else { Err(TokenError) }
}

impl Token {
    /// Returns a token. `renewed_by` is dropped with the last clone.
    ///
    /// # Errors
    /// [`TokenError`], for a text that cannot be sent.
    pub fn new(value: &str, renewed_by: impl Any + Send + Sync) -> Result<Self, TokenError> {
        Ok(Self(Arc::new(Shared {
            values: RwLock::new(vec![checked(value)?]),
            renewals: AtomicU64::new(0),
            failure: RwLock::new(None),
            _renewed_by: Box::new(renewed_by),
        })))
    }

    /// Returns what renews the token.
    pub fn renewal(&self) -> Renewal {
        Renewal(Arc::downgrade(&self.0))
    }

    /// Returns how often the token was renewed.
    pub fn renewals(&self) -> u64 {
        self.0.renewals.load(Ordering::Acquire)
    }

    /// Returns the reason for which the token was not renewed the last time.
    pub fn failure(&self) -> Option<String> {
        self.0.failure.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns the token that is valid now.
    pub(super) fn value(&self) -> Arc<str> {
        Arc::clone(self.values().first().expect("a token has a value from its beginning"))
    }

    /// Returns the latest tokens.
    pub(super) fn values(&self) -> Vec<Arc<str>> {
        self.0.values.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Renewal {
    /// Replaces the token by another, or notes why that was not possible. Returns `false` if nothing uses it any more.
    pub fn renew(&self, value: Result<&str, String>) -> bool {
        let Some(shared) = self.0.upgrade() else { return false };
        let value = value.and_then(|value| checked(value).map_err(|error| error.to_string()));
        let failure = value.map(|value| {
            let mut values = shared.values.write().unwrap_or_else(PoisonError::into_inner);
            values.insert(0, value);
            values.truncate(MOST_KEPT);
            drop(values);
            shared.renewals.fetch_add(1, Ordering::AcqRel);
        });
        *shared.failure.write().unwrap_or_else(PoisonError::into_inner) = failure.err();
        true
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Token").field("renewals", &self.renewals()).finish_non_exhaustive()
    }
}

/// Tokens are equal where they are the same one.
impl PartialEq for Token {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Token {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_renewed_as_long_as_it_is_used() {
        let (stop, stopped) = std::sync::mpsc::channel::<()>();
        let token = Token::new("first", stop).expect("it is one");
        let renewal = token.renewal();
        assert!(renewal.renew(Err("no response".to_owned())));
        assert_eq!((token.value().as_ref(), token.failure().as_deref()), ("first", Some("no response")));
        assert!(renewal.renew(Ok("a b")) && token.failure().is_some());
        assert!(renewal.renew(Ok("second")));
        assert_eq!((token.value().as_ref(), token.renewals(), token.failure()), ("second", 1, None));
        assert_eq!(token.values().iter().map(|value| value.to_string()).collect::<Vec<_>>(), ["second", "first"]);
        assert!(!format!("{token:?}").contains("second"));
        drop(token);
        assert!(!renewal.renew(Ok("third")) && stopped.recv().is_err());
    }

    #[test]
    fn what_cannot_be_sent_is_no_token() {
        for wrong in ["", "a\r\nb", "\u{e4}", &"a".repeat(LONGEST + 1)] {
            assert_eq!(Token::new(wrong, ()).err(), Some(TokenError));
        }
    }
}
