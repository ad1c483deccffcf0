//! Settings of a database: pools, time limits, number of rows.

use std::time::Duration;

/// Settings of a database. Pools and connections are per worker thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// The most connections per worker thread to MySQL or PostgreSQL: one pool of this size for the raw driver and the
    /// builder, and one for the model. Connections are opened when they are needed.
    pub pool_size: usize,
    /// How long an operation waits for a connection that is in use.
    pub acquire_timeout: Duration,
    /// How long opening a connection may take.
    pub connect_timeout: Duration,
    /// How long one statement may take. The database ends the statement then; if it does not, the connection is closed a
    /// quarter of a second later. For SQLite: how long to wait for a lock.
    pub statement_timeout: Duration,
    /// PostgreSQL only: each worker thread has one connection over which all statements are pipelined.
    pub pipelined: bool,
    /// Rows of the table `item`.
    pub rows: u32,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            pool_size: 8,
            acquire_timeout: Duration::from_secs(2),
            connect_timeout: Duration::from_secs(5),
            statement_timeout: Duration::from_secs(5),
            pipelined: false,
            rows: 100_000,
        }
    }
}
