//! A service with a planted difference: each request computes for a while, and does some more if that is wanted.

use std::fmt;
use std::hint::black_box;

use clap::{Args, ValueEnum};
use rusqlite::Connection;
use serde::{Deserialize, Serialize};

use crate::floor::server;
use torr_test_support::error::Error;

/// Rounds of computation for each request: some 200 us, as a small handler with a template and a query takes.
const ROUNDS: u32 = 150_000;
/// Rounds of computation in a unit of work.
const UNIT_ROUNDS: u32 = 100;
/// Bytes of an allocation.
const ALLOCATED: usize = 1024;
/// Rows of the table that is queried.
const ROWS: u32 = 10_000;

/// What a request does more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// It computes; a unit is 100 rounds of a generator of random numbers.
    Work,
    /// It allocates; a unit is 1 KiB that is filled and freed.
    Allocation,
    /// It queries SQLite; a unit is a row by its key, by a prepared statement.
    Query,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Self; 3] = [Self::Work, Self::Allocation, Self::Query];

    /// Returns the name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Work => "work",
            Self::Allocation => "allocation",
            Self::Query => "query",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Work => "busy work",
            Self::Allocation => "an added allocation",
            Self::Query => "an added query",
        })
    }
}

/// Arguments of the service.
#[derive(Args)]
pub struct Planted {
    /// An address such as 127.0.0.1:9000, or a port on the loopback
    pub listen: String,
    /// What a request does more
    #[arg(long, value_enum, default_value = "work")]
    pub kind: Kind,
    /// How much more, in units of the kind
    #[arg(long, default_value_t = 0)]
    pub units: u32,
}

/// Serves until killed.
pub fn run(args: &Planted) -> Result<(), Error> {
    // The service without a difference opens the database as well, so that it has the same memory and caches.
    let database = database().map_err(Error::at("SQLite"))?;
    let mut read = database.prepare("SELECT text FROM rows WHERE id = ?1").map_err(Error::at("SQLite"))?;
    let (kind, units, mut key) = (args.kind, args.units, 0);
    let mut more = || match kind {
        Kind::Work => compute(UNIT_ROUNDS),
        Kind::Allocation => _ = black_box(vec![black_box(7_u8); ALLOCATED]),
        Kind::Query => {
            key = key % ROWS + 1;
            let text: Result<String, _> = read.query_row([key], |row| row.get(0));
            black_box(text.expect("each key has a row"));
        }
    };
    server::serve(&args.listen, None, || {
        compute(ROUNDS);
        (0..units).for_each(|_| more());
    })
    .map_err(Error::from)
}

/// Computes; a round takes about a nanosecond.
fn compute(rounds: u32) {
    let mut state = 1_u64;
    for _ in 0..rounds {
        state = black_box(state).wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
    }
    black_box(state);
}

/// Returns a table in memory.
fn database() -> rusqlite::Result<Connection> {
    let database = Connection::open_in_memory()?;
    database.execute_batch(&format!(
        "CREATE TABLE rows (id INTEGER PRIMARY KEY, text TEXT NOT NULL);
         WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < {ROWS})
         INSERT INTO rows SELECT n, 'row ' || n FROM numbers;"
    ))?;
    Ok(database)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_key_has_a_row() {
        let database = database().expect("it is made in memory");
        let count: u32 = database.query_row("SELECT count(*) FROM rows", [], |row| row.get(0)).expect("it counts");
        assert_eq!(count, ROWS);
        let text: String =
            database.query_row("SELECT text FROM rows WHERE id = 9", [], |row| row.get(0)).expect("it is one");
        assert_eq!(text, "row 9");
    }
}
