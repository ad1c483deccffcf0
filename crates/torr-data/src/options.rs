//! How a database is used: pools, time limits, how many rows.

use std::time::Duration;

/// How a database is used. Pools and connections are per worker thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// Connections that a worker thread has at most, for MySQL and PostgreSQL: so many for the raw driver and the builder
    /// together, and as many for the model. They are opened when they are needed.
    pub pool_size: usize,
    /// How long somebody waits for a connection that is in use.
    pub acquire_timeout: Duration,
    /// How long a connection may take to be opened.
    pub connect_timeout: Duration,
    /// How long one statement may take. The database ends it then; if it does not even do that, the connection is given up a
    /// quarter of a second later. For SQLite: how long to wait for another one's lock.
    pub statement_timeout: Duration,
    /// PostgreSQL: a worker thread has one connection, over which all statements go without waiting for each other's answers.
    pub pipelined: bool,
    /// Rows of the table `item`, 100,000 in the documents.
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
