//! What all clones of a database and all its threads share.

use crate::options::Options;
use crate::pool_waits::PoolCounters;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// The shared state of a database.
#[derive(Debug)]
pub(crate) struct DatabaseInner {
    pub(crate) backend: Backend,
    pub(crate) options: Options,
    pub(crate) pool_counters: Arc<PoolCounters>,
    /// A number that is equal in all processes that use the same database, and differs between databases.
    pub(crate) identity: u64,
}

impl DatabaseInner {
    pub(crate) fn new(backend: Backend, url: &str, options: &Options) -> Self {
        // The identity leaves out the password. Each database in memory has an identity of its own.
        let location = url.rsplit_once('@').map_or(url, |(_, location)| location);
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let own = (url == "sqlite::memory:").then(|| (std::process::id(), NUMBER.fetch_add(1, Relaxed)));
        let mut hasher = DefaultHasher::new();
        (location, own).hash(&mut hasher);
        Self { backend, options: options.clone(), pool_counters: Arc::default(), identity: hasher.finish() }
    }
}

/// What a thread needs to open connections of its own.
#[derive(Debug)]
pub(crate) enum Backend {
    #[cfg(feature = "sqlite")]
    Sqlite(Arc<crate::sqlite::SqliteDatabase>),
    #[cfg(feature = "mysql")]
    MySql(Arc<crate::mysql::MySqlConfig>),
    #[cfg(feature = "postgres")]
    Postgres(Arc<crate::postgres::PostgresConfig>),
}
