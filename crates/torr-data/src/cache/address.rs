//! The URL of a cache.

use crate::error::{DataError, ErrorKind};

/// A parsed URL.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Address<'u> {
    /// The memory of this process.
    Memory,
    /// The whole URL of a Redis.
    Redis(&'u str),
}

/// Returns the error of a URL that cannot be used. It does not quote the URL, which may hold a password.
pub(super) fn bad(what: &str) -> DataError {
    let text = format_args!("{what}: use memory, redis://HOST/NUMBER or redis://:PASSWORD@HOST:PORT/NUMBER");
    DataError::new(ErrorKind::BadUrl, text)
}

impl<'u> Address<'u> {
    pub(super) fn parse(url: &'u str) -> Result<Self, DataError> {
        match url.split_once("://") {
            None if url == "memory" => Ok(Self::Memory),
            Some(("redis", _)) => Ok(Self::Redis(url)),
            Some(("rediss", _)) => Err(bad("TLS to Redis is not supported")),
            _ => Err(bad("unknown cache in the URL")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_parsed() {
        assert_eq!(Address::parse("memory"), Ok(Address::Memory));
        assert_eq!(Address::parse("redis://h"), Ok(Address::Redis("redis://h")));
    }

    #[test]
    fn other_urls_are_refused_without_being_quoted() {
        for url in ["", "Memory", "memory://", "redis:h", "rediss://:secret@h", "memcached://secret", "secret"] {
            let error = Address::parse(url).expect_err(url);
            assert_eq!(error.kind(), ErrorKind::BadUrl, "{url}");
            assert!(!error.to_string().contains("secret"), "{error}");
        }
    }
}
