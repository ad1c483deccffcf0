//! Settings of a cache: capacity and time limits.

use std::time::Duration;

/// Settings of a cache.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CacheOptions {
    /// In memory: the most bytes that keys and values take, with their overhead. Rows of World do not count; they take less
    /// than two megabytes.
    pub capacity: usize,
    /// Redis: how long opening a connection may take, and how long a task waits for another task that opens it.
    pub connect_timeout: Duration,
    /// Redis: how long a response may take. After that the connection is closed.
    pub response_timeout: Duration,
    /// The time to live of rows of World.
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
