//! The public handle of a cache in memory or in Redis: opened once, used from any thread.

mod address;
mod blocking;
mod memory;
mod options;
#[cfg(feature = "redis")]
mod redis;
mod row_lookup;

pub use blocking::BlockingCache;
pub use options::CacheOptions;

use crate::access::Access;
use crate::database::Database;
use crate::error::DataError;
use crate::model::World;
use address::Address;
use memory::MemoryCache;
use row_lookup::RowLookup;
use std::sync::Arc;
use std::time::Duration;

/// The store of a cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CacheKind {
    /// The memory of this process.
    Memory,
    /// Redis, which processes and machines share.
    Redis,
}

/// A cache of bytes by key and of rows of World by id. Each entry has a time to live. Clones refer to the same cache.
///
/// A cache in memory belongs to this process. Its size is bounded by [`CacheOptions::capacity`]; entries that are rarely
/// read are evicted first. In Redis, all keys begin with `torr:`, and no other keys are touched. Each thread has one
/// connection that pipelines its commands; a lost connection is opened again when the next command needs it.
///
/// Operations return futures that run on the thread's own tokio runtime, like those of a [`Database`]. Futures of a cache
/// in memory are ready at the first poll and need no runtime. [`Cache::blocking`] offers the same operations to code that
/// blocks.
#[derive(Debug, Clone)]
pub struct Cache {
    inner: Arc<CacheInner>,
}

#[derive(Debug)]
struct CacheInner {
    backend: CacheBackend,
    worlds_ttl: Duration,
}

#[derive(Debug)]
enum CacheBackend {
    Memory(MemoryCache),
    #[cfg(feature = "redis")]
    Redis(Arc<redis::RedisConfig>),
}

impl Cache {
    /// Opens the cache of a URL: `memory` or `redis://[[USER]:PASSWORD@]HOST[:PORT][/DATABASE]`. The call
    /// blocks until Redis has responded, and may be made from any thread.
    ///
    /// # Errors
    /// If the URL names no cache, or Redis cannot be reached or used.
    pub fn open(url: &str, options: &CacheOptions) -> Result<Self, DataError> {
        let cache = Self::open_lazy(url, options)?;
        #[cfg(feature = "redis")]
        if let CacheBackend::Redis(config) = &cache.inner.backend {
            crate::block_on::on_new_thread(async || config.check().await)?;
        }
        Ok(cache)
    }

    /// Opens a cache without connecting to Redis, which may be unreachable until the first operation.
    ///
    /// # Errors
    /// If the URL names no cache.
    pub fn open_lazy(url: &str, options: &CacheOptions) -> Result<Self, DataError> {
        let backend = match Address::parse(url)? {
            Address::Memory => CacheBackend::Memory(MemoryCache::new(options.capacity)),
            #[cfg(feature = "redis")]
            Address::Redis(url) => CacheBackend::Redis(Arc::new(redis::RedisConfig::new(url, options)?)),
            #[cfg(not(feature = "redis"))]
            Address::Redis(_) => {
                let text = "this program was built without Redis: build it with the feature 'redis'";
                return Err(DataError::new(crate::error::ErrorKind::NotBuiltIn, text));
            }
        };
        Ok(Self { inner: Arc::new(CacheInner { backend, worlds_ttl: options.worlds_ttl }) })
    }

    /// Returns which store the cache uses.
    pub fn kind(&self) -> CacheKind {
        match self.inner.backend {
            CacheBackend::Memory(_) => CacheKind::Memory,
            #[cfg(feature = "redis")]
            CacheBackend::Redis(_) => CacheKind::Redis,
        }
    }

    /// Returns the bytes of a key, unless they have expired or were evicted.
    #[expect(clippy::missing_errors_doc, reason = "the errors of Redis")]
    pub async fn get(&self, key: &str) -> Result<Option<Vec<u8>>, DataError> {
        match &self.inner.backend {
            CacheBackend::Memory(memory) => Ok(memory.get(key)),
            #[cfg(feature = "redis")]
            CacheBackend::Redis(config) => redis::of(config).get(key).await,
        }
    }

    /// Sets the bytes of a key, with a time to live between a millisecond and a century. If the connection to Redis is lost,
    /// the command may be executed twice.
    ///
    /// A cache in memory does not keep a value of about a sixteenth of its capacity or more.
    #[expect(clippy::missing_errors_doc, reason = "the errors of Redis")]
    pub async fn put(&self, key: &str, value: &[u8], ttl: Duration) -> Result<(), DataError> {
        let ttl = bounded(ttl);
        match &self.inner.backend {
            CacheBackend::Memory(memory) => memory.put(key, value, ttl),
            #[cfg(feature = "redis")]
            CacheBackend::Redis(config) => redis::of(config).put(key, value, ttl).await?,
        }
        Ok(())
    }

    /// Increments the number that a key holds as decimal digits, and restarts its time to live. Returns the sum, or `None`
    /// if the key holds nothing, or bytes that are not a number, which stay unchanged.
    ///
    /// The increment is atomic: concurrent callers in any process get different sums. If the connection to Redis is lost,
    /// the number may be incremented twice.
    #[expect(clippy::missing_errors_doc, reason = "the errors of Redis")]
    pub async fn increment(&self, key: &str, ttl: Duration) -> Result<Option<u64>, DataError> {
        let ttl = bounded(ttl);
        match &self.inner.backend {
            CacheBackend::Memory(memory) => Ok(memory.increment(key, ttl)),
            #[cfg(feature = "redis")]
            CacheBackend::Redis(config) => redis::of(config).increment(key, ttl).await,
        }
    }

    /// Removes a key.
    #[expect(clippy::missing_errors_doc, reason = "the errors of Redis")]
    pub async fn remove(&self, key: &str) -> Result<(), DataError> {
        match &self.inner.backend {
            CacheBackend::Memory(memory) => memory.remove(key),
            #[cfg(feature = "redis")]
            CacheBackend::Redis(config) => redis::of(config).remove(key).await?,
        }
        Ok(())
    }

    /// Returns Worlds by id as TechEmpower's test of cached queries demands: each is looked up on its own, in Redis with one
    /// GET each. Missing rows are read by [`Database::worlds`] and kept for [`CacheOptions::worlds_ttl`].
    ///
    /// A row may be older than the database's: [`Database::update`] does not invalidate caches, as the test's rules allow.
    ///
    /// # Errors
    /// Those of Redis and of the database.
    pub async fn worlds(&self, database: &Database, access: Access, ids: &[i32]) -> Result<Vec<World>, DataError> {
        let lookup = RowLookup::new(ids, self.kept_worlds(database, ids).await?);
        let missing = lookup.missing();
        if missing.is_empty() {
            return Ok(lookup.all(&[]));
        }
        let read = database.worlds(access, &missing).await?;
        self.keep_worlds(database, &read).await?;
        Ok(lookup.all(&read))
    }

    async fn kept_worlds(&self, of: &Database, ids: &[i32]) -> Result<Vec<Option<World>>, DataError> {
        match &self.inner.backend {
            CacheBackend::Memory(memory) => Ok(memory.worlds(of.identity(), ids)),
            #[cfg(feature = "redis")]
            CacheBackend::Redis(config) => redis::of(config).worlds(of.identity(), ids).await,
        }
    }

    async fn keep_worlds(&self, of: &Database, worlds: &[World]) -> Result<(), DataError> {
        let ttl = bounded(self.inner.worlds_ttl);
        match &self.inner.backend {
            CacheBackend::Memory(memory) => memory.keep_worlds(of.identity(), worlds, ttl),
            #[cfg(feature = "redis")]
            CacheBackend::Redis(config) => redis::of(config).keep_worlds(of.identity(), worlds, ttl).await?,
        }
        Ok(())
    }
}

/// Clamps a time to live to what Redis accepts: at least a millisecond, and no overflow when added to the current time.
fn bounded(ttl: Duration) -> Duration {
    const CENTURY: Duration = Duration::from_secs(100 * 365 * 24 * 60 * 60);
    ttl.clamp(Duration::from_millis(1), CENTURY)
}
