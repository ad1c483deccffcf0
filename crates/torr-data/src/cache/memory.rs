//! A cache in this process.
//!
//! `quick_cache` bounds it and says what goes; when something's time has come is kept beside it, and looked at when it is
//! asked for. Until then it takes its room, unless that is needed.

use crate::contents::WORLD_ROWS;
use crate::model::World;
use quick_cache::sync::{Cache, DefaultLifecycle, EntryAction, EntryResult};
use quick_cache::{DefaultHashBuilder, Equivalent, OptionsBuilder, UnitWeighter, Weighter};
use std::fmt;
use std::hash::Hash;
use std::time::{Duration, Instant};

/// What an entry takes beside its bytes: pointers, its time, its place in the table.
const OVERHEAD: usize = 96;

/// What an entry takes, as far as that is to be guessed: the table is made for so many.
const TYPICAL: usize = 512;

/// Parts with a lock each. An entry has to fit into one.
const PARTS: usize = 16;

/// All threads have the same.
pub(super) struct Memory {
    values: Expiring<Box<str>, Box<[u8]>, Size>,
    worlds: Expiring<(u64, i32), i32, UnitWeighter>,
}

impl Memory {
    pub(super) fn new(capacity: usize) -> Self {
        let mut values = OptionsBuilder::new();
        values.estimated_items_capacity(capacity / TYPICAL).weight_capacity(capacity as u64).shards(PARTS);
        // Twice as many as there are: they are not spread evenly over the parts.
        let mut worlds = OptionsBuilder::new();
        worlds.estimated_items_capacity(2 * WORLD_ROWS as usize).weight_capacity(2 * u64::from(WORLD_ROWS));
        Self { values: Expiring::new(&values, Size), worlds: Expiring::new(&worlds, UnitWeighter) }
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
            if kept.until <= now {
                return EntryAction::Remove;
            }
            let digits = std::str::from_utf8(&kept.value).ok().filter(|text| text.bytes().all(|b| b.is_ascii_digit()));
            let sum = digits.and_then(|digits| digits.parse::<u64>().ok()).and_then(|number| number.checked_add(1));
            if let Some(sum) = sum {
                *kept = Until { value: sum.to_string().into_bytes().into(), until: now + ttl };
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
        let until = Instant::now() + ttl;
        for world in worlds {
            self.worlds.put((of, world.id), world.random_number, until);
        }
    }
}

impl fmt::Debug for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Memory").field("entries", &self.values.cache.len()).finish_non_exhaustive()
    }
}

/// Entries, each until its time.
struct Expiring<K, V, W> {
    cache: Cache<K, Until<V>, W>,
}

#[derive(Clone)]
struct Until<V> {
    value: V,
    until: Instant,
}

impl<K: Hash + Eq, V: Clone, W: Weighter<K, Until<V>> + Clone> Expiring<K, V, W> {
    fn new(options: &OptionsBuilder, weighter: W) -> Self {
        let options = options.build().expect("both capacities are said");
        let hash = DefaultHashBuilder::default();
        Self { cache: Cache::with_options(options, weighter, hash, DefaultLifecycle::default()) }
    }

    fn get<Q: Hash + Equivalent<K> + ?Sized>(&self, key: &Q, now: Instant) -> Option<V> {
        let found = self.cache.get(key)?;
        if now < found.until {
            return Some(found.value);
        }
        // Somebody may have put a new one meanwhile.
        self.cache.remove_if(key, |found| found.until <= now);
        None
    }

    fn put(&self, key: K, value: V, until: Instant) {
        self.cache.insert(key, Until { value, until });
    }
}

/// What an entry takes, in bytes.
#[derive(Clone)]
struct Size;

impl Weighter<Box<str>, Until<Box<[u8]>>> for Size {
    fn weight(&self, key: &Box<str>, entry: &Until<Box<[u8]>>) -> u64 {
        (key.len() + entry.value.len() + OVERHEAD) as u64
    }
}
