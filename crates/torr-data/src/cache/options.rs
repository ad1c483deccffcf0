//! How a cache is used: room, time limits.

use std::time::Duration;

/// How a cache is used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CacheOptions {
    /// In memory: bytes that keys and values take at most, with what it costs to keep them. Rows of World are not counted:
    /// they take less than two megabytes.
    pub capacity: usize,
    /// Redis: how long a connection may take to be opened, and how long somebody waits while others open it.
    pub connect_timeout: Duration,
    /// Redis: how long an answer may take. Then the connection is given up.
    pub response_timeout: Duration,
    /// How long rows of World are kept.
    pub worlds_ttl: Duration,
}

impl Default for CacheOptions {
    fn default() -> Self {
        Self {
            capacity: 64 << 20,
            connect_timeout: Duration::from_secs(5),
            response_timeout: Duration::from_secs(2),
            worlds_ttl: Duration::from_secs(60),
        }
    }
}
