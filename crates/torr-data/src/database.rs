//! A database as a program sees it: opened once, asked from any thread.

use crate::access::Access;
use crate::address::{Address, DatabaseKind};
use crate::blocking::BlockingDatabase;
use crate::error::DataError;
#[cfg(not(all(feature = "sqlite", feature = "mysql", feature = "postgres")))]
use crate::error::ErrorKind;
use crate::fill::Progress;
use crate::local::{self, Local};
use crate::model::{Fortune, Item, World};
use crate::options::Options;
use crate::waits::{PoolEvent, PoolWaits, Waits};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// A database with Torr's tables. Clones are the same database.
#[derive(Debug, Clone)]
pub struct Database {
    inner: Arc<Inner>,
}

/// What all clones and threads share.
#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) backend: Backend,
    pub(crate) options: Options,
    pub(crate) waits: Arc<Waits>,
    /// Tells this database from others, in all processes that use it.
    pub(crate) identity: u64,
}

impl Inner {
    fn new(backend: Backend, url: &str, options: &Options) -> Self {
        // Without the password, and of one in memory there are many.
        let place = url.rsplit_once('@').map_or(url, |(_, place)| place);
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let own = (url == "sqlite::memory:").then(|| (std::process::id(), NUMBER.fetch_add(1, Relaxed)));
        let mut hasher = DefaultHasher::new();
        (place, own).hash(&mut hasher);
        Self { backend, options: options.clone(), waits: Arc::default(), identity: hasher.finish() }
    }
}

/// How a thread comes by its own connections.
#[derive(Debug)]
pub(crate) enum Backend {
    #[cfg(feature = "sqlite")]
    Sqlite(Arc<crate::sqlite::Shared>),
    #[cfg(feature = "mysql")]
    MySql(Arc<crate::mysql::Plan>),
    #[cfg(feature = "postgres")]
    Postgres(Arc<crate::postgres::Plan>),
}

impl Database {
    /// Opens the database of a URL: `sqlite::memory:`, `sqlite:FILE`, `mysql://USER:PASSWORD@HOST/NAME` or
    /// `postgres://USER:PASSWORD@HOST/NAME`. Tables that are missing are made and filled; tables of others are left alone.
    /// Waits until that is done, and may be called from anywhere.
    ///
    /// # Errors
    /// If the database cannot be reached or used, or has a table of one of Torr's names that Torr has not made.
    #[cfg_attr(not(feature = "network"), allow(unused_mut))]
    pub fn open(url: &str, options: &Options, mut progress: impl FnMut(Progress) + Send) -> Result<Self, DataError> {
        match Address::parse(url)? {
            #[cfg(feature = "mysql")]
            Address::Server(DatabaseKind::MySql, url) => {
                let patient = crate::mysql::Plan::new(url, crate::network::PATIENCE)?;
                crate::aside::run(async || patient.prepare(options, &mut progress).await)?;
            }
            #[cfg(feature = "postgres")]
            Address::Server(DatabaseKind::Postgres, url) => {
                let patient = crate::postgres::Plan::new(url, crate::network::PATIENCE)?;
                crate::aside::run(async || patient.prepare(options, &mut progress).await)?;
            }
            _ => {}
        }
        Self::prepared(url, options, progress)
    }

    /// The same where another process has made the tables: a database beyond a socket is not asked before the first operation,
    /// so that it may be away meanwhile.
    ///
    /// # Errors
    /// If the URL cannot be used, or SQLite's file.
    pub fn open_lazy(url: &str, options: &Options) -> Result<Self, DataError> {
        Self::prepared(url, options, |_| {})
    }

    /// One whose tables are there, but for SQLite, where making them is a part of opening it.
    #[cfg_attr(not(feature = "sqlite"), allow(unused_mut, unused_variables))]
    fn prepared(url: &str, options: &Options, mut progress: impl FnMut(Progress)) -> Result<Self, DataError> {
        let backend = match Address::parse(url)? {
            #[cfg(feature = "sqlite")]
            address @ (Address::Memory | Address::File(_)) => {
                let file = if let Address::File(file) = address { Some(file) } else { None };
                Backend::Sqlite(Arc::new(crate::sqlite::Shared::open(file, options, &mut progress)?))
            }
            #[cfg(feature = "mysql")]
            Address::Server(DatabaseKind::MySql, url) => {
                Backend::MySql(Arc::new(crate::mysql::Plan::new(url, options.statement_timeout)?))
            }
            #[cfg(feature = "postgres")]
            Address::Server(DatabaseKind::Postgres, url) => {
                Backend::Postgres(Arc::new(crate::postgres::Plan::new(url, options.statement_timeout)?))
            }
            #[cfg(not(all(feature = "sqlite", feature = "mysql", feature = "postgres")))]
            _ => {
                let text = "this program was built without that database: build it with the feature of its name";
                return Err(DataError::new(ErrorKind::NotBuiltIn, text));
            }
            #[cfg(all(feature = "sqlite", feature = "mysql", feature = "postgres"))]
            Address::Server(DatabaseKind::Sqlite, _) => unreachable!("SQLite has no server"),
        };
        Ok(Self { inner: Arc::new(Inner::new(backend, url, options)) })
    }

    /// Which database it is.
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

    /// Rows of the table `item`, with ids from 1.
    pub fn items(&self) -> u32 {
        self.inner.options.rows
    }

    /// How often and how long somebody waited for a connection so far.
    pub fn pool_waits(&self) -> PoolWaits {
        self.inner.waits.read()
    }

    /// Tells it from others: the same in all processes.
    pub(crate) fn identity(&self) -> u64 {
        self.inner.identity
    }

    /// Calls this whenever something happens at a pool, on the thread where it does. Only the first call has an effect.
    pub fn observe_pool(&self, observer: impl Fn(PoolEvent) + Send + Sync + 'static) {
        self.inner.waits.observe(Box::new(observer));
    }

    /// The same operations for who wants to block the thread meanwhile. With SQLite they are as direct as a call can be.
    pub fn blocking(&self) -> BlockingDatabase<'_> {
        BlockingDatabase::new(self)
    }

    /// The World with this id, from 1 to 10,000.
    pub fn world(&self, access: Access, id: i32) -> impl Future<Output = Result<World, DataError>> + use<> {
        let local = self.local();
        async move { local.world(access, id).await }
    }

    /// Worlds by their ids, with one SELECT for each.
    pub fn worlds(&self, access: Access, ids: &[i32]) -> impl Future<Output = Result<Vec<World>, DataError>> + use<> {
        let (local, ids) = (self.local(), ids.to_vec());
        async move { local.worlds(access, &ids).await }
    }

    /// All fortunes, in no particular order.
    pub fn fortunes(&self, access: Access) -> impl Future<Output = Result<Vec<Fortune>, DataError>> + use<> {
        let local = self.local();
        async move { local.fortunes(access).await }
    }

    /// A row of the table of 100,000.
    pub fn item(&self, access: Access, id: i32) -> impl Future<Output = Result<Item, DataError>> + use<> {
        let local = self.local();
        async move { local.item(access, id).await }
    }

    /// Reads each of these Worlds by a SELECT of its own, then gives all of them their new numbers: all or none. Returns the
    /// rows as they were read. Of an id that comes more than once the last number counts.
    pub fn update(
        &self,
        access: Access,
        rows: &[World],
    ) -> impl Future<Output = Result<Vec<World>, DataError>> + use<> {
        let ids: Vec<_> = rows.iter().map(|row| row.id).collect();
        let (local, rows) = (self.local(), sorted(rows));
        async move { local.update(access, &ids, &rows).await }
    }

    /// This thread's connections.
    fn local(&self) -> Rc<Local> {
        local::of(&self.inner)
    }
}

/// The rows by their ids, of each id the last one. All write in this order, so nobody waits for somebody who waits for him.
fn sorted(rows: &[World]) -> Vec<World> {
    let mut sorted: Vec<_> = rows.iter().rev().copied().collect();
    sorted.sort_by_key(|row| row.id);
    sorted.dedup_by_key(|row| row.id);
    sorted
}
