//! A cache in the memory of this process.
//!
//! `quick_cache` bounds the size and chooses what to evict. An entry carries its expiry time, which is checked when the
//! entry is read; until then an expired entry takes room unless it is evicted.

use crate::model::World;
use crate::tables::WORLD_ROWS;
use quick_cache::sync::{Cache, DefaultLifecycle, EntryAction, EntryResult};
use quick_cache::{DefaultHashBuilder, Equivalent, OptionsBuilder, UnitWeighter, Weighter};
use std::fmt;
use std::hash::Hash;
use std::time::{Duration, Instant};

/// Bytes that an entry takes beside its key and value: pointers, the expiry time, the slot of the table.
const ENTRY_OVERHEAD: usize = 96;

/// An estimate of the bytes of a typical entry, from which the size of the table follows.
const TYPICAL_ENTRY: usize = 512;

/// Shards, each with a lock of its own. An entry has to fit into one shard.
const SHARDS: usize = 16;

/// The values and the rows of World, shared by all threads.
pub(super) struct MemoryCache {
    values: ExpiringMap<Box<str>, Box<[u8]>, ByteWeight>,
    worlds: ExpiringMap<(u64, i32), i32, UnitWeighter>,
}

impl MemoryCache {
    pub(super) fn new(capacity: usize) -> Self {
        let mut values = OptionsBuilder::new();
        values.estimated_items_capacity(capacity / TYPICAL_ENTRY).weight_capacity(capacity as u64).shards(SHARDS);
        // Twice the number of rows, because rows are not spread evenly over the shards.
        let mut worlds = OptionsBuilder::new();
        worlds.estimated_items_capacity(2 * WORLD_ROWS as usize).weight_capacity(2 * u64::from(WORLD_ROWS));
        Self { values: ExpiringMap::new(&values, ByteWeight), worlds: ExpiringMap::new(&worlds, UnitWeighter) }
    }

    pub(super) fn get(&self, key: &str) -> Option<Vec<u8>> {
        self.values.get(key, Instant::now()).map(Vec::from)
    }

    pub(super) fn put(&self, key: &str, value: &[u8], ttl: Duration) {
        self.values.put(key.into(), value.into(), Instant::now() + ttl);
    }

    pub(super) fn increment(&self, key: &str, ttl: Duration) -> Option<u64> {
        let now = Instant::now();
        let found = self.values.cache.entry::<Box<str>, Option<u64>>(&key.into(), None, |_, kept| {
            if kept.expires_at <= now {
                return EntryAction::Remove;
            }
            let digits = std::str::from_utf8(&kept.value).ok().filter(|text| text.bytes().all(|b| b.is_ascii_digit()));
            let sum = digits.and_then(|digits| digits.parse::<u64>().ok()).and_then(|number| number.checked_add(1));
            if let Some(sum) = sum {
                *kept = ExpiringEntry { value: sum.to_string().into_bytes().into(), expires_at: now + ttl };
            }
            EntryAction::Retain(sum)
        });
        match found {
            EntryResult::Retained(sum) => sum,
            _ => None,
        }
    }

    pub(super) fn remove(&self, key: &str) {
        self.values.cache.remove(key);
    }

    pub(super) fn worlds(&self, of: u64, ids: &[i32]) -> Vec<Option<World>> {
        let now = Instant::now();
        let world = |id: &i32| self.worlds.get(&(of, *id), now).map(|random_number| World { id: *id, random_number });
        ids.iter().map(world).collect()
    }

    pub(super) fn keep_worlds(&self, of: u64, worlds: &[World], ttl: Duration) {
        let expires_at = Instant::now() + ttl;
        for world in worlds {
            self.worlds.put((of, world.id), world.random_number, expires_at);
        }
    }
}

impl fmt::Debug for MemoryCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryCache").field("entries", &self.values.cache.len()).finish_non_exhaustive()
    }
}

/// A bounded map whose entries expire.
struct ExpiringMap<K, V, W> {
    cache: Cache<K, ExpiringEntry<V>, W>,
}

#[derive(Clone)]
struct ExpiringEntry<V> {
    value: V,
    expires_at: Instant,
}

impl<K: Hash + Eq, V: Clone, W: Weighter<K, ExpiringEntry<V>> + Clone> ExpiringMap<K, V, W> {
    fn new(options: &OptionsBuilder, weighter: W) -> Self {
        let options = options.build().expect("both capacities are set");
        let hash = DefaultHashBuilder::default();
        Self { cache: Cache::with_options(options, weighter, hash, DefaultLifecycle::default()) }
    }

    fn get<Q: Hash + Equivalent<K> + ?Sized>(&self, key: &Q, now: Instant) -> Option<V> {
        let found = self.cache.get(key)?;
        if now < found.expires_at {
            return Some(found.value);
        }
        // Another thread may have replaced the entry meanwhile.
        self.cache.remove_if(key, |found| found.expires_at <= now);
        None
    }

    fn put(&self, key: K, value: V, expires_at: Instant) {
        self.cache.insert(key, ExpiringEntry { value, expires_at });
    }
}

/// Weighs an entry by its bytes.
#[derive(Clone)]
struct ByteWeight;

impl Weighter<Box<str>, ExpiringEntry<Box<[u8]>>> for ByteWeight {
    fn weight(&self, key: &Box<str>, entry: &ExpiringEntry<Box<[u8]>>) -> u64 {
        (key.len() + entry.value.len() + ENTRY_OVERHEAD) as u64
    }
}
