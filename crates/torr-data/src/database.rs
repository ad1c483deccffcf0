//! The public handle of a database: opened once, used from any thread.

use crate::access::Access;
use crate::address::{Address, DatabaseKind};
use crate::backend::{Backend, DatabaseInner};
use crate::error::DataError;
#[cfg(not(all(feature = "sqlite", feature = "mysql", feature = "postgres")))]
use crate::error::ErrorKind;
use crate::fill::Progress;
use crate::model::{Fortune, Item, World};
use crate::options::Options;
use crate::pool_waits::{PoolEvent, PoolWaits};
use crate::thread_connections::{self, ThreadConnections};
use std::rc::Rc;
use std::sync::Arc;

/// A database with Torr's tables. Clones refer to the same database.
#[derive(Debug, Clone)]
pub struct Database {
    inner: Arc<DatabaseInner>,
}

impl Database {
    /// Opens the database at a URL: `sqlite::memory:`, `sqlite:FILE`, `mysql://USER:PASSWORD@HOST/NAME` or
    /// `postgres://USER:PASSWORD@HOST/NAME`. Missing tables are created and filled; tables that Torr did not create stay
    /// unchanged. The call blocks until the tables are ready, and may be made from any thread.
    ///
    /// # Errors
    /// If the database cannot be reached or used, or has a table with one of Torr's names that Torr did not create.
    #[cfg_attr(not(feature = "network"), allow(unused_mut))]
    pub fn open(url: &str, options: &Options, mut progress: impl FnMut(Progress) + Send) -> Result<Self, DataError> {
        match Address::parse(url)? {
            #[cfg(feature = "mysql")]
            Address::Server(DatabaseKind::MySql, url) => {
                let config = crate::mysql::MySqlConfig::new(url, crate::network::STEP_LIMIT)?;
                crate::block_on::on_new_thread(async || config.prepare(options, &mut progress).await)?;
            }
            #[cfg(feature = "postgres")]
            Address::Server(DatabaseKind::Postgres, url) => {
                let config = crate::postgres::PostgresConfig::new(url, crate::network::STEP_LIMIT)?;
                crate::block_on::on_new_thread(async || config.prepare(options, &mut progress).await)?;
            }
            _ => {}
        }
        Self::with_tables(url, options, progress)
    }

    /// Opens a database whose tables another process prepares. A database server is first contacted by the first
    /// operation, so it may be unreachable until then.
    ///
    /// # Errors
    /// If the URL cannot be used, or the file of SQLite.
    pub fn open_lazy(url: &str, options: &Options) -> Result<Self, DataError> {
        Self::with_tables(url, options, |_| {})
    }

    /// Opens a database that has its tables. With SQLite, opening the file creates them.
    #[cfg_attr(not(feature = "sqlite"), allow(unused_mut, unused_variables))]
    fn with_tables(url: &str, options: &Options, mut progress: impl FnMut(Progress)) -> Result<Self, DataError> {
        let backend = match Address::parse(url)? {
            #[cfg(feature = "sqlite")]
            address @ (Address::Memory | Address::File(_)) => {
                let file = if let Address::File(file) = address { Some(file) } else { None };
                Backend::Sqlite(Arc::new(crate::sqlite::SqliteDatabase::open(file, options, &mut progress)?))
            }
            #[cfg(feature = "mysql")]
            Address::Server(DatabaseKind::MySql, url) => {
                Backend::MySql(Arc::new(crate::mysql::MySqlConfig::new(url, options.statement_timeout)?))
            }
            #[cfg(feature = "postgres")]
            Address::Server(DatabaseKind::Postgres, url) => {
                Backend::Postgres(Arc::new(crate::postgres::PostgresConfig::new(url, options.statement_timeout)?))
            }
            #[cfg(not(all(feature = "sqlite", feature = "mysql", feature = "postgres")))]
            _ => {
                let text = "this program was built without this database: build it with the feature 'sqlite', 'mysql' \
                            or 'postgres'";
                return Err(DataError::new(ErrorKind::NotBuiltIn, text));
            }
            #[cfg(all(feature = "sqlite", feature = "mysql", feature = "postgres"))]
            Address::Server(DatabaseKind::Sqlite, _) => unreachable!("SQLite has no server"),
        };
        Ok(Self { inner: Arc::new(DatabaseInner::new(backend, url, options)) })
    }

    /// Returns which database it is.
    pub fn kind(&self) -> DatabaseKind {
        match self.inner.backend {
            #[cfg(feature = "sqlite")]
            Backend::Sqlite(_) => DatabaseKind::Sqlite,
            #[cfg(feature = "mysql")]
            Backend::MySql(_) => DatabaseKind::MySql,
            #[cfg(feature = "postgres")]
            Backend::Postgres(_) => DatabaseKind::Postgres,
        }
    }

    /// Returns the number of rows of the table `item`, whose ids begin at 1.
    pub fn items(&self) -> u32 {
        self.inner.options.rows
    }

    /// Returns how often and how long operations have waited for a connection.
    pub fn pool_waits(&self) -> PoolWaits {
        self.inner.pool_counters.read()
    }

    /// Returns a number that identifies the database in all processes.
    pub(crate) fn identity(&self) -> u64 {
        self.inner.identity
    }

    /// Installs an observer that is called at each event of a pool, on the thread of the event. Only the first call has
    /// an effect.
    pub fn observe_pool(&self, observer: impl Fn(PoolEvent) + Send + Sync + 'static) {
        self.inner.pool_counters.observe(Box::new(observer));
    }

    /// Reads the World with an id from 1 to 10,000.
    pub fn world(&self, access: Access, id: i32) -> impl Future<Output = Result<World, DataError>> + use<> {
        let connections = self.connections();
        async move { connections.world(access, id).await }
    }

    /// Reads Worlds by id, with one SELECT each.
    pub fn worlds(&self, access: Access, ids: &[i32]) -> impl Future<Output = Result<Vec<World>, DataError>> + use<> {
        let (connections, ids) = (self.connections(), ids.to_vec());
        async move { connections.worlds(access, &ids).await }
    }

    /// Reads all fortunes, in no particular order.
    pub fn fortunes(&self, access: Access) -> impl Future<Output = Result<Vec<Fortune>, DataError>> + use<> {
        let connections = self.connections();
        async move { connections.fortunes(access).await }
    }

    /// Reads a row of the table `item`.
    pub fn item(&self, access: Access, id: i32) -> impl Future<Output = Result<Item, DataError>> + use<> {
        let connections = self.connections();
        async move { connections.item(access, id).await }
    }

    /// Reads each of the Worlds with one SELECT, then writes the new numbers of all of them, or of none. Returns the rows
    /// as they were read. If an id occurs more than once, its last number is written.
    pub fn update(
        &self,
        access: Access,
        rows: &[World],
    ) -> impl Future<Output = Result<Vec<World>, DataError>> + use<> {
        let ids: Vec<_> = rows.iter().map(|row| row.id).collect();
        let (connections, rows) = (self.connections(), sorted(rows));
        async move { connections.update(access, &ids, &rows).await }
    }

    /// Returns the calling thread's connections.
    fn connections(&self) -> Rc<ThreadConnections> {
        thread_connections::of(&self.inner)
    }
}

/// Returns the rows sorted by id, of each id the last one. All writers lock rows in this order, which excludes deadlocks.
fn sorted(rows: &[World]) -> Vec<World> {
    let mut sorted: Vec<_> = rows.iter().rev().copied().collect();
    sorted.sort_by_key(|row| row.id);
    sorted.dedup_by_key(|row| row.id);
    sorted
}
