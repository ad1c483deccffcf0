//! The demo application's database: opened at the start if one is named, else SQLite in memory with the first query.

use std::fmt;
use std::str::FromStr;
use std::sync::OnceLock;
use torr_data::{DataError, Database, DatabaseKind, Options, PoolEvent, Progress};
use torr_serve::{App, Metric};

/// The default database.
pub const EMBEDDED: &str = "sqlite::memory:";

/// How handlers wait for a database beyond a socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// As tasks of their worker, which serves others meanwhile.
    #[default]
    Async,
    /// On the worker's thread, which does nothing else meanwhile.
    Blocking,
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if *self == Self::Async { "async" } else { "blocking" })
    }
}

impl FromStr for Mode {
    type Err = ();

    fn from_str(name: &str) -> Result<Self, ()> {
        [Self::Async, Self::Blocking].into_iter().find(|mode| mode.to_string() == name).ok_or(())
    }
}

/// A database, perhaps not yet open.
#[derive(Debug)]
pub struct Source {
    options: Options,
    mode: Mode,
    database: OnceLock<Result<Database, DataError>>,
    pool: Pool,
}

impl Source {
    /// Returns SQLite in memory, which is filled at the first query.
    pub fn embedded(options: Options) -> Self {
        Self { options, mode: Mode::default(), database: OnceLock::new(), pool: Pool::new() }
    }

    /// The database of a URL, with its tables made and filled if they are missing.
    ///
    /// # Errors
    /// If it cannot be used.
    pub fn open(
        url: &str,
        options: Options,
        mode: Mode,
        progress: impl FnMut(Progress) + Send,
    ) -> Result<Self, DataError> {
        Ok(Self::of(Database::open(url, &options, progress)?, options, mode))
    }

    /// Returns the database whose tables another process has made. The database may be unreachable meanwhile.
    ///
    /// # Errors
    /// If the URL cannot be used.
    pub fn open_lazy(url: &str, options: Options, mode: Mode) -> Result<Self, DataError> {
        Ok(Self::of(Database::open_lazy(url, &options)?, options, mode))
    }

    fn of(database: Database, options: Options, mode: Mode) -> Self {
        let pool = Pool::new();
        pool.observe(&database);
        Self { options, mode, database: OnceLock::from(Ok(database)), pool }
    }

    /// The database.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub fn database(&self) -> Result<&Database, DataError> {
        let open = || Database::open(EMBEDDED, &self.options, |_| {});
        self.database.get_or_init(open).as_ref().map_err(Clone::clone)
    }

    /// Returns whether queries are immediate, so that handlers block their worker: those of SQLite take microseconds.
    pub fn is_immediate(&self) -> bool {
        let is_sqlite = |database: &Database| database.kind() == DatabaseKind::Sqlite;
        self.blocks() || self.database.get().is_none_or(|it| it.as_ref().is_ok_and(is_sqlite))
    }

    /// Returns whether a worker blocks during queries.
    pub fn blocks(&self) -> bool {
        self.mode == Mode::Blocking
    }

    /// Returns the number of rows of the table `item`.
    pub fn items(&self) -> u32 {
        self.options.rows
    }

    /// Shows what happens at the pools.
    pub fn show(&self, app: App) -> App {
        self.pool.metrics().into_iter().fold(app, App::metric)
    }
}

/// What happens at the pools of all workers.
#[derive(Debug, Clone)]
struct Pool {
    opened: Metric,
    waits: Metric,
    waited: Metric,
    exhausted: Metric,
    waiting: Metric,
}

impl Pool {
    fn new() -> Self {
        Self {
            opened: Metric::counter("torr_database_connections_opened_total", "Connections opened to the database."),
            waits: Metric::counter("torr_database_pool_waits_total", "Completed waits for a connection of a pool."),
            waited: Metric::seconds(
                "torr_database_pool_wait_seconds_total",
                "Time of completed waits for a connection of a pool.",
            ),
            exhausted: Metric::counter(
                "torr_database_pool_exhausted_total",
                "Waits for a connection of a pool that timed out.",
            ),
            waiting: Metric::gauge(
                "torr_database_pool_waiting",
                "Requests that are waiting for a connection of a pool.",
            ),
        }
    }

    fn metrics(&self) -> [&Metric; 5] {
        [&self.opened, &self.waits, &self.waited, &self.exhausted, &self.waiting]
    }

    fn observe(&self, database: &Database) {
        let pool = self.clone();
        database.observe_pool(move |event| match event {
            PoolEvent::Opened => pool.opened.add(1),
            PoolEvent::WaitBegan => pool.waiting.add(1),
            PoolEvent::WaitEnded(time) => {
                pool.waiting.sub(1);
                pool.waits.add(1);
                pool.waited.add_time(time);
            }
            PoolEvent::Exhausted => pool.exhausted.add(1),
        });
    }
}
