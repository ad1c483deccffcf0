//! Cache operations for code that blocks its thread.

use super::row_lookup::RowLookup;
use super::{Cache, CacheBackend, bounded};
use crate::access::Access;
use crate::database::Database;
use crate::error::DataError;
use crate::model::World;
use std::time::Duration;

/// A cache whose operations block the calling thread. They may be called from any thread, also from one that runs a tokio
/// runtime.
///
/// With Redis, operations run on a companion thread, as with [`crate::BlockingDatabase`].
#[derive(Debug, Clone, Copy)]
pub struct BlockingCache<'c> {
    cache: &'c Cache,
}

impl Cache {
    /// Returns the operations in a form that blocks the thread. In memory each is a direct call.
    pub fn blocking(&self) -> BlockingCache<'_> {
        BlockingCache { cache: self }
    }
}

impl BlockingCache<'_> {
    /// Blocking form of [`Cache::get`].
    #[expect(clippy::missing_errors_doc, reason = "the cache's errors")]
    pub fn get(&self, key: &str) -> Result<Option<Vec<u8>>, DataError> {
        match &self.cache.inner.backend {
            CacheBackend::Memory(memory) => Ok(memory.get(key)),
            #[cfg(feature = "redis")]
            CacheBackend::Redis(_) => {
                let key = key.to_owned();
                self.on_driver_thread(async move |cache| cache.get(&key).await)
            }
        }
    }

    /// Blocking form of [`Cache::put`].
    #[expect(clippy::missing_errors_doc, reason = "the cache's errors")]
    pub fn put(&self, key: &str, value: &[u8], ttl: Duration) -> Result<(), DataError> {
        match &self.cache.inner.backend {
            CacheBackend::Memory(memory) => {
                memory.put(key, value, bounded(ttl));
                Ok(())
            }
            #[cfg(feature = "redis")]
            CacheBackend::Redis(_) => {
                let (key, value) = (key.to_owned(), value.to_vec());
                self.on_driver_thread(async move |cache| cache.put(&key, &value, ttl).await)
            }
        }
    }

    /// Blocking form of [`Cache::remove`].
    #[expect(clippy::missing_errors_doc, reason = "the cache's errors")]
    pub fn remove(&self, key: &str) -> Result<(), DataError> {
        match &self.cache.inner.backend {
            CacheBackend::Memory(memory) => {
                memory.remove(key);
                Ok(())
            }
            #[cfg(feature = "redis")]
            CacheBackend::Redis(_) => {
                let key = key.to_owned();
                self.on_driver_thread(async move |cache| cache.remove(&key).await)
            }
        }
    }

    /// Blocking form of [`Cache::worlds`].
    #[expect(clippy::missing_errors_doc, reason = "the errors of the cache and the database")]
    pub fn worlds(&self, database: &Database, access: Access, ids: &[i32]) -> Result<Vec<World>, DataError> {
        match &self.cache.inner.backend {
            CacheBackend::Memory(memory) => {
                let lookup = RowLookup::new(ids, memory.worlds(database.identity(), ids));
                let missing = lookup.missing();
                if missing.is_empty() {
                    return Ok(lookup.all(&[]));
                }
                let read = database.blocking().worlds(access, &missing)?;
                memory.keep_worlds(database.identity(), &read, bounded(self.cache.inner.worlds_ttl));
                Ok(lookup.all(&read))
            }
            #[cfg(feature = "redis")]
            CacheBackend::Redis(_) => {
                let (database, ids) = (database.clone(), ids.to_vec());
                self.on_driver_thread(async move |cache| cache.worlds(&database, access, &ids).await)
            }
        }
    }

    #[cfg(feature = "redis")]
    fn on_driver_thread<T: Send + 'static>(
        &self,
        operation: impl AsyncFnOnce(&Cache) -> Result<T, DataError> + Send + 'static,
    ) -> Result<T, DataError> {
        let cache = self.cache.clone();
        crate::driver_thread::run(move || async move { operation(&cache).await })
    }
}
