//! What a cache's URL says.

use crate::error::{DataError, ErrorKind};

/// A URL, told apart.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Address<'u> {
    /// This process.
    Memory,
    /// The whole URL.
    Redis(&'u str),
}

/// A URL that cannot be used. It is not said back: it may hold a password.
pub(super) fn bad(what: &str) -> DataError {
    let text = format_args!("{what}: a cache is memory or redis://[:PASSWORD@]HOST[:PORT][/DATABASE]");
    DataError::new(ErrorKind::BadUrl, text)
}

impl<'u> Address<'u> {
    pub(super) fn parse(url: &'u str) -> Result<Self, DataError> {
        match url.split_once("://") {
            None if url == "memory" => Ok(Self::Memory),
            Some(("redis", _)) => Ok(Self::Redis(url)),
            Some(("rediss", _)) => Err(bad("the cache's URL asks for TLS, which is not supported to Redis")),
            _ => Err(bad("the URL is of no known cache")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_told_apart() {
        assert_eq!(Address::parse("memory"), Ok(Address::Memory));
        assert_eq!(Address::parse("redis://h"), Ok(Address::Redis("redis://h")));
    }

    #[test]
    fn other_urls_are_refused_without_saying_them_back() {
        for url in ["", "Memory", "memory://", "redis:h", "rediss://:secret@h", "memcached://secret", "secret"] {
            let error = Address::parse(url).expect_err(url);
            assert_eq!(error.kind(), ErrorKind::BadUrl, "{url}");
            assert!(!error.to_string().contains("secret"), "{error}");
        }
    }
}
