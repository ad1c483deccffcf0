//! The operations for who blocks his thread until they are done.

use super::rows::Asked;
use super::{Cache, Store, bounded};
use crate::access::Access;
use crate::database::Database;
use crate::error::DataError;
use crate::model::World;
use std::time::Duration;

/// A cache whose operations block the calling thread. They may be called from anywhere, also on a tokio runtime.
///
/// With Redis a thread that uses it has another one beside it, as with [`crate::BlockingDatabase`].
#[derive(Debug, Clone, Copy)]
pub struct BlockingCache<'c> {
    cache: &'c Cache,
}

impl<'c> BlockingCache<'c> {
    pub(super) fn new(cache: &'c Cache) -> Self {
        Self { cache }
    }

    /// As [`Cache::get`].
    #[expect(clippy::missing_errors_doc, reason = "those of the cache")]
    pub fn get(&self, key: &str) -> Result<Option<Vec<u8>>, DataError> {
        match &self.cache.inner.store {
            Store::Memory(memory) => Ok(memory.get(key)),
            #[cfg(feature = "redis")]
            Store::Redis(_) => {
                let key = key.to_owned();
                self.beside(async move |cache| cache.get(&key).await)
            }
        }
    }

    /// As [`Cache::put`].
    #[expect(clippy::missing_errors_doc, reason = "those of the cache")]
    pub fn put(&self, key: &str, value: &[u8], ttl: Duration) -> Result<(), DataError> {
        match &self.cache.inner.store {
            Store::Memory(memory) => {
                memory.put(key, value, bounded(ttl));
                Ok(())
            }
            #[cfg(feature = "redis")]
            Store::Redis(_) => {
                let (key, value) = (key.to_owned(), value.to_vec());
                self.beside(async move |cache| cache.put(&key, &value, ttl).await)
            }
        }
    }

    /// As [`Cache::remove`].
    #[expect(clippy::missing_errors_doc, reason = "those of the cache")]
    pub fn remove(&self, key: &str) -> Result<(), DataError> {
        match &self.cache.inner.store {
            Store::Memory(memory) => {
                memory.remove(key);
                Ok(())
            }
            #[cfg(feature = "redis")]
            Store::Redis(_) => {
                let key = key.to_owned();
                self.beside(async move |cache| cache.remove(&key).await)
            }
        }
    }

    /// As [`Cache::worlds`].
    #[expect(clippy::missing_errors_doc, reason = "those of the cache and the database")]
    pub fn worlds(&self, database: &Database, access: Access, ids: &[i32]) -> Result<Vec<World>, DataError> {
        match &self.cache.inner.store {
            Store::Memory(memory) => {
                let asked = Asked::new(ids, memory.worlds(database.identity(), ids));
                let missing = asked.missing();
                if missing.is_empty() {
                    return Ok(asked.all(&[]));
                }
                let read = database.blocking().worlds(access, &missing)?;
                memory.keep_worlds(database.identity(), &read, bounded(self.cache.inner.worlds_ttl));
                Ok(asked.all(&read))
            }
            #[cfg(feature = "redis")]
            Store::Redis(_) => {
                let (database, ids) = (database.clone(), ids.to_vec());
                self.beside(async move |cache| cache.worlds(&database, access, &ids).await)
            }
        }
    }

    #[cfg(feature = "redis")]
    fn beside<T: Send + 'static>(
        &self,
        ask: impl AsyncFnOnce(&Cache) -> Result<T, DataError> + Send + 'static,
    ) -> Result<T, DataError> {
        let cache = self.cache.clone();
        crate::companion::run(move || async move { ask(&cache).await })
    }
}
