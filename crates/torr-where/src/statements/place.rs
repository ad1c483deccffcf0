//! Facts about a statement that takes a database's time.

use super::database::Database;
use serde::{Deserialize, Serialize};
use torr_gauge::verdict::Estimate;

/// The calls per response from which on a statement counts as repeated: a loop in the service sends what one statement could.
pub const REPEATED: f64 = 5.0;

/// How a statement was seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    /// In packets between the service and the database.
    Wire,
    /// In the database's own views, by a login. These have the statements of all clients.
    Login,
    /// In the memory of the database's processes, which run the statements of all clients of a Unix socket.
    Memory,
}

/// A table that is read whole for want of an index.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct MissingIndex {
    /// The table.
    pub table: String,
    /// The column that the statement compares, and that no index begins with.
    pub column: String,
    /// The rows of the table, as the database estimates them.
    pub rows: u64,
}

/// Who holds a lock that a statement waits for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Blocker {
    /// The last statement of the holder's transaction. `None` if the database does not say it.
    pub statement: Option<String>,
    /// Whether the holder waits for its client while it holds the lock: the transaction is open and no statement runs.
    pub is_idle_in_transaction: bool,
    /// The share of the statement's samples in which it waited for a lock.
    pub share: Estimate,
}

/// A statement, with its share of the time that the database spends on statements.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StatementPlace {
    /// The database.
    pub database: Database,
    /// The database's address.
    pub server: String,
    /// How the statement was seen.
    pub source: Source,
    /// The statement, its values replaced by `?`. `?` alone is a statement whose text was not seen.
    pub statement: String,
    /// The calls, if they were counted.
    pub calls: Option<u64>,
    /// The calls for each HTTP response in the same time.
    pub per_response: Option<f64>,
    /// Whether each response takes [`REPEATED`] calls or more (`N+1`).
    pub is_repeated: bool,
    /// The mean number of equal statements that follow each other on a connection.
    pub run: Option<f64>,
    /// The mean time of a call in microseconds.
    pub mean_us: Option<f64>,
    /// The mean number of rows of a call.
    pub rows_per_call: Option<f64>,
    /// The calls that the database refused.
    pub failed: u64,
    /// The share of the time of all statements.
    pub share: Estimate,
    /// The table that the statement reads whole for want of an index.
    pub missing_index: Option<MissingIndex>,
    /// Who blocks the statement, if it waits for locks.
    pub blocked_by: Option<Blocker>,
    /// The factor by which the database's throughput rises if half of the statement's time is saved and nothing else limits.
    pub gain: Estimate,
}

impl StatementPlace {
    /// Returns whether the statement's text is known.
    pub fn is_seen(&self) -> bool {
        self.statement != "?"
    }
}
