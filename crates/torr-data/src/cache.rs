//! A cache as a program sees it: opened once, asked from any thread, in memory or in Redis.

mod address;
mod blocking;
mod memory;
mod options;
#[cfg(feature = "redis")]
mod redis;
mod rows;

pub use blocking::BlockingCache;
pub use options::CacheOptions;

use crate::access::Access;
use crate::database::Database;
use crate::error::DataError;
use crate::model::World;
use address::Address;
use memory::Memory;
use rows::Asked;
use std::sync::Arc;
use std::time::Duration;

/// Where a cache keeps what it has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CacheKind {
    /// In this process.
    Memory,
    /// In Redis, which processes and machines share.
    Redis,
}

/// Bytes by their keys, and rows of World by their ids, each until its time has come. Clones are the same cache.
///
/// In memory a cache is of this process alone. It has room for as much as [`CacheOptions::capacity`] says; what is not asked
/// for goes first. In Redis all of its keys begin with `torr:`, and nothing else there is touched. Each thread has one
/// connection, over which many ask at the same time; one that was lost is opened anew when it is needed next.
///
/// Operations give futures that run on the thread's own tokio runtime, as those of a [`Database`]; those of a cache in memory
/// are ready when they are polled first, and need none. [`Cache::blocking`] has the same for who wants to wait.
#[derive(Debug, Clone)]
pub struct Cache {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    store: Store,
    worlds_ttl: Duration,
}

#[derive(Debug)]
enum Store {
    Memory(Memory),
    #[cfg(feature = "redis")]
    Redis(Arc<redis::Plan>),
}

impl Cache {
    /// Opens the cache of a URL: `memory` or `redis://[[USER]:PASSWORD@]HOST[:PORT][/DATABASE]`. Waits until Redis has
    /// answered, and may be called from anywhere.
    ///
    /// # Errors
    /// If the URL is of no cache, or Redis cannot be reached or used.
    pub fn open(url: &str, options: &CacheOptions) -> Result<Self, DataError> {
        let cache = Self::open_lazy(url, options)?;
        #[cfg(feature = "redis")]
        if let Store::Redis(plan) = &cache.inner.store {
            crate::aside::run(async || plan.try_out().await)?;
        }
        Ok(cache)
    }

    /// The same without a question to Redis, which may be away meanwhile.
    ///
    /// # Errors
    /// If the URL is of no cache.
    pub fn open_lazy(url: &str, options: &CacheOptions) -> Result<Self, DataError> {
        let store = match Address::parse(url)? {
            Address::Memory => Store::Memory(Memory::new(options.capacity)),
            #[cfg(feature = "redis")]
            Address::Redis(url) => Store::Redis(Arc::new(redis::Plan::new(url, options)?)),
            #[cfg(not(feature = "redis"))]
            Address::Redis(_) => {
                let text = "this program was built without Redis: build it with the feature redis";
                return Err(DataError::new(crate::error::ErrorKind::NotBuiltIn, text));
            }
        };
        Ok(Self { inner: Arc::new(Inner { store, worlds_ttl: options.worlds_ttl }) })
    }

    /// Where it keeps what it has.
    pub fn kind(&self) -> CacheKind {
        match self.inner.store {
            Store::Memory(_) => CacheKind::Memory,
            #[cfg(feature = "redis")]
            Store::Redis(_) => CacheKind::Redis,
        }
    }

    /// The same operations for who wants to block the thread meanwhile. In memory they are as direct as a call can be.
    pub fn blocking(&self) -> BlockingCache<'_> {
        BlockingCache::new(self)
    }

    /// What was put under a key, unless its time has come or its room was needed.
    #[expect(clippy::missing_errors_doc, reason = "those of Redis")]
    pub async fn get(&self, key: &str) -> Result<Option<Vec<u8>>, DataError> {
        match &self.inner.store {
            Store::Memory(memory) => Ok(memory.get(key)),
            #[cfg(feature = "redis")]
            Store::Redis(plan) => redis::of(plan).get(key).await,
        }
    }

    /// Keeps bytes under a key for so long, from a millisecond to a century, instead of what was there. If the connection to
    /// Redis is lost meanwhile, it may happen twice.
    ///
    /// In memory, what takes about a sixteenth of the room or more is not kept.
    #[expect(clippy::missing_errors_doc, reason = "those of Redis")]
    pub async fn put(&self, key: &str, value: &[u8], ttl: Duration) -> Result<(), DataError> {
        let ttl = bounded(ttl);
        match &self.inner.store {
            Store::Memory(memory) => memory.put(key, value, ttl),
            #[cfg(feature = "redis")]
            Store::Redis(plan) => redis::of(plan).put(key, value, ttl).await?,
        }
        Ok(())
    }

    /// Adds one to the number that is kept under a key as decimal digits, and keeps the sum for so long from now. Returns the sum;
    /// `None` where nothing is kept under the key, or something else than a number, which stays as it is.
    ///
    /// Callers that add at the same time, in whichever process, get a different sum each. If the connection to Redis is lost
    /// meanwhile, one may be added twice.
    #[expect(clippy::missing_errors_doc, reason = "those of Redis")]
    pub async fn increment(&self, key: &str, ttl: Duration) -> Result<Option<u64>, DataError> {
        let ttl = bounded(ttl);
        match &self.inner.store {
            Store::Memory(memory) => Ok(memory.increment(key, ttl)),
            #[cfg(feature = "redis")]
            Store::Redis(plan) => redis::of(plan).increment(key, ttl).await,
        }
    }

    /// Forgets what is under a key.
    #[expect(clippy::missing_errors_doc, reason = "those of Redis")]
    pub async fn remove(&self, key: &str) -> Result<(), DataError> {
        match &self.inner.store {
            Store::Memory(memory) => memory.remove(key),
            #[cfg(feature = "redis")]
            Store::Redis(plan) => redis::of(plan).remove(key).await?,
        }
        Ok(())
    }

    /// Worlds by their ids, as TechEmpower's test of cached queries wants them: each is looked up for itself, in Redis by a
    /// GET of its own. Rows that are missing are read as by [`Database::worlds`], and kept for
    /// [`CacheOptions::worlds_ttl`].
    ///
    /// So a row may be older than what the database has: [`Database::update`] does not know of caches, as the test's rules
    /// allow.
    ///
    /// # Errors
    /// Those of Redis and of the database.
    pub async fn worlds(&self, database: &Database, access: Access, ids: &[i32]) -> Result<Vec<World>, DataError> {
        let asked = Asked::new(ids, self.kept_worlds(database, ids).await?);
        let missing = asked.missing();
        if missing.is_empty() {
            return Ok(asked.all(&[]));
        }
        let read = database.worlds(access, &missing).await?;
        self.keep_worlds(database, &read).await?;
        Ok(asked.all(&read))
    }

    async fn kept_worlds(&self, of: &Database, ids: &[i32]) -> Result<Vec<Option<World>>, DataError> {
        match &self.inner.store {
            Store::Memory(memory) => Ok(memory.worlds(of.identity(), ids)),
            #[cfg(feature = "redis")]
            Store::Redis(plan) => redis::of(plan).worlds(of.identity(), ids).await,
        }
    }

    async fn keep_worlds(&self, of: &Database, worlds: &[World]) -> Result<(), DataError> {
        let ttl = bounded(self.inner.worlds_ttl);
        match &self.inner.store {
            Store::Memory(memory) => memory.keep_worlds(of.identity(), worlds, ttl),
            #[cfg(feature = "redis")]
            Store::Redis(plan) => redis::of(plan).keep_worlds(of.identity(), worlds, ttl).await?,
        }
        Ok(())
    }
}

/// What Redis, too, takes for a time to live: whole milliseconds, and a sum with today's date that is no overflow.
fn bounded(ttl: Duration) -> Duration {
    const CENTURY: Duration = Duration::from_secs(100 * 365 * 24 * 60 * 60);
    ttl.clamp(Duration::from_millis(1), CENTURY)
}
