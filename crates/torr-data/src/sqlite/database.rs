//! A SQLite database that threads open for themselves.

use super::error::classify;
use super::tables::SqliteTables;
use crate::block_on;
use crate::error::DataError;
use crate::fill::{self, Progress};
use crate::options::Options;
use rusqlite::Connection;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError, RwLock};
use std::time::Duration;

/// The path and the locks that all threads share.
pub(crate) struct SqliteDatabase {
    /// The file, or the URI of a database in memory.
    pub(super) path: String,
    in_memory: bool,
    statement_timeout: Duration,
    /// Held exclusively by the process's writers, and shared by the readers of a database in memory.
    lock: RwLock<()>,
    /// The connection that keeps a database in memory alive.
    _keeper: Option<Mutex<Connection>>,
}

impl std::fmt::Debug for SqliteDatabase {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SqliteDatabase").field("path", &self.path).finish_non_exhaustive()
    }
}

impl SqliteDatabase {
    /// Opens a file, or a new database in memory if `file` is `None`, and creates the tables.
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
        let connection = Connection::open(&path).map_err(|error| classify(&error))?;
        connection.busy_timeout(options.statement_timeout).map_err(|error| classify(&error))?;
        let mut tables = SqliteTables::new(&connection);
        block_on::ready(fill::prepare(&mut tables, options.rows, progress))?;
        if file.is_some() {
            // The mode is set only after the tables have shown that the file is Torr's.
            connection.pragma_update(None, "journal_mode", "WAL").map_err(|error| classify(&error))?;
        }
        Ok(Self {
            path,
            in_memory: file.is_none(),
            statement_timeout: options.statement_timeout,
            lock: RwLock::new(()),
            _keeper: file.is_none().then(|| Mutex::new(connection)),
        })
    }

    /// Returns the statements that configure a new connection.
    pub(super) fn settings(&self) -> String {
        // A cache of 8 MiB holds all tables. In WAL mode, NORMAL risks only the last writes before a power failure.
        let busy = self.statement_timeout.as_millis();
        format!("PRAGMA busy_timeout = {busy}; PRAGMA cache_size = -8192; PRAGMA synchronous = NORMAL;")
    }

    pub(super) fn reading<T>(&self, read: impl FnOnce() -> T) -> T {
        let _guard = self.in_memory.then(|| self.lock.read().unwrap_or_else(PoisonError::into_inner));
        read()
    }

    pub(super) fn writing<T>(&self, write: impl FnOnce() -> T) -> T {
        let _guard = self.lock.write().unwrap_or_else(PoisonError::into_inner);
        write()
    }
}
