//! Items by id in the memory of the process, for 200 ms each.

use crate::item::Item;
use quick_cache::sync::Cache;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The time after which an item is read from the database again, however often it is requested.
const AGE: Duration = Duration::from_millis(200);

/// The most items: all that the contest asks for.
const ITEMS: usize = 65_536;

#[derive(Clone)]
struct Entry {
    item: Arc<Item>,
    until: Instant,
}

/// Items that were read a short time ago.
pub struct Items(Cache<i32, Entry>);

impl Items {
    /// Returns an empty cache.
    pub fn new() -> Self {
        Self(Cache::new(ITEMS))
    }

    /// Returns an item that is young enough.
    pub fn get(&self, id: i32) -> Option<Arc<Item>> {
        self.0.get(&id).filter(|entry| Instant::now() < entry.until).map(|entry| entry.item)
    }

    /// Keeps an item from now on.
    pub fn put(&self, item: Arc<Item>) {
        self.0.insert(item.id, Entry { item, until: Instant::now() + AGE });
    }

    /// Removes an item.
    pub fn remove(&self, id: i32) {
        self.0.remove(&id);
    }
}
