//! SQLite, embedded: answers within microseconds, so on the worker's thread itself.
//!
//! In memory all threads share one database by SQLite's `memdb`: no system call per query, a third of the time that a file in
//! memory takes in WAL mode, and, unlike with a shared cache, each connection has a cache of its own. Its writers exclude
//! readers, and who meets one would sleep a millisecond: so a lock of ours stands before it. A file is in WAL mode, where
//! writers exclude each other only.

mod error;
mod local;
mod store;

pub(crate) use local::Local;

use crate::blocking::at_once;
use crate::error::DataError;
use crate::fill::{self, Progress};
use crate::options::Options;
use error::sorted;
use rusqlite::Connection;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError, RwLock};
use std::time::Duration;
use store::Tables;

/// A database that threads open for themselves.
pub(crate) struct Shared {
    /// The file, or the URI of a database in memory.
    path: String,
    in_memory: bool,
    statement_timeout: Duration,
    /// Writers of this process, and readers of a database in memory.
    gate: RwLock<()>,
    /// A database in memory lives as long as a connection to it.
    _keeper: Option<Mutex<Connection>>,
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared").field("path", &self.path).finish_non_exhaustive()
    }
}

impl Shared {
    /// A file, or memory if there is none.
    pub(crate) fn open(
        file: Option<&str>,
        options: &Options,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Self, DataError> {
        static NUMBER: AtomicU64 = AtomicU64::new(1);
        let path = match file {
            Some(file) => file.to_owned(),
            None => format!("file:/torr-{}?vfs=memdb", NUMBER.fetch_add(1, Relaxed)),
        };
        let connection = Connection::open(&path).map_err(|error| sorted(&error))?;
        connection.busy_timeout(options.statement_timeout).map_err(|error| sorted(&error))?;
        let mut tables = Tables::new(&connection);
        at_once(fill::prepare(&mut tables, options.rows, progress))?;
        if file.is_some() {
            // Only now: the file could have been somebody else's.
            connection.pragma_update(None, "journal_mode", "WAL").map_err(|error| sorted(&error))?;
        }
        Ok(Self {
            path,
            in_memory: file.is_none(),
            statement_timeout: options.statement_timeout,
            gate: RwLock::new(()),
            _keeper: file.is_none().then(|| Mutex::new(connection)),
        })
    }

    /// What a connection is told when it is opened.
    fn settings(&self) -> String {
        // Eight MiB hold all of the tables. With WAL, NORMAL loses nothing but the last writes before a power failure.
        let busy = self.statement_timeout.as_millis();
        format!("PRAGMA busy_timeout = {busy}; PRAGMA cache_size = -8192; PRAGMA synchronous = NORMAL;")
    }

    fn reading<T>(&self, read: impl FnOnce() -> T) -> T {
        let _gate = self.in_memory.then(|| self.gate.read().unwrap_or_else(PoisonError::into_inner));
        read()
    }

    fn writing<T>(&self, write: impl FnOnce() -> T) -> T {
        let _gate = self.gate.write().unwrap_or_else(PoisonError::into_inner);
        write()
    }
}
