//! The files that a worker has in memory.

use super::resource::Resource;
use std::cell::RefCell;
use std::collections::{HashMap, VecDeque};
use std::rc::Rc;

/// The number of entries that count no more and are still kept in the order, at least.
const SPARE: usize = 64;

thread_local! {
    /// The caches of this worker, one for each folder.
    static CACHES: RefCell<HashMap<u64, Cache>> = RefCell::default();
}

/// The resources of one folder by their paths.
#[derive(Debug, Default)]
pub(super) struct Cache {
    /// Each with the number of its entry.
    known: HashMap<Box<[u8]>, (u64, Rc<Resource>)>,
    /// The paths in the order of their entries; an entry that is not the newest of its path counts no more.
    order: VecDeque<(u64, Box<[u8]>)>,
    entries: u64,
    bytes: usize,
}

impl Cache {
    /// Calls a function with this worker's cache of a folder.
    pub fn with<T>(folder: u64, then: impl FnOnce(&mut Self) -> T) -> T {
        CACHES.with_borrow_mut(|caches| then(caches.entry(folder).or_default()))
    }

    /// Returns what is known of a path, if it is not too old.
    pub fn get(&mut self, path: &[u8]) -> Option<Rc<Resource>> {
        let (_, known) = self.known.get(path)?;
        if !known.is_old() {
            return Some(Rc::clone(known));
        }
        self.remove(path);
        None
    }

    /// Keeps a resource, in place of others where there would be more than so many bytes.
    pub fn put(&mut self, path: &[u8], resource: &Rc<Resource>, most: usize) {
        let added = cost(path, resource);
        if added > most {
            return;
        }
        self.remove(path);
        // The oldest first: what is wanted often is soon here again.
        while self.bytes + added > most {
            let Some((entry, path)) = self.order.pop_front() else { break };
            if self.known.get(&path).is_some_and(|(newest, _)| *newest == entry) {
                self.remove(&path);
            }
        }
        self.bytes += added;
        self.entries += 1;
        self.known.insert(path.into(), (self.entries, Rc::clone(resource)));
        self.order.push_back((self.entries, path.into()));
        if self.order.len() > 2 * self.known.len() + SPARE {
            self.order.retain(|(entry, path)| self.known.get(path).is_some_and(|(newest, _)| newest == entry));
        }
    }

    /// Forgets what is known of a path.
    pub fn remove(&mut self, path: &[u8]) {
        if let Some((path, (_, resource))) = self.known.remove_entry(path) {
            self.bytes -= cost(&path, &resource);
        }
    }
}

fn cost(path: &[u8], resource: &Resource) -> usize {
    path.len() + resource.footprint()
}

#[cfg(test)]
mod tests {
    use super::Cache;
    use crate::files::form::tests::of_coding;
    use crate::files::resource::Resource;
    use std::rc::Rc;

    #[test]
    fn no_more_is_kept_than_may_be() {
        let (mut cache, one) = (Cache::default(), Rc::new(Resource::new(vec![of_coding(None)])));
        let most = 5 * (one.footprint() + 2);
        for number in 0..50 {
            cache.put(format!("{number:02}").as_bytes(), &one, most);
        }
        assert_eq!((cache.known.len(), cache.bytes), (5, most));
        assert!(cache.get(b"49").is_some(), "the newest is there");
        cache.put(b"49", &one, most);
        assert_eq!(cache.bytes, most);
        cache.remove(b"49");
        cache.remove(b"none");
        assert_eq!((cache.known.len(), cache.bytes), (4, 4 * (one.footprint() + 2)));
        for _ in 0..1000 {
            cache.put(b"48", &one, most);
        }
        assert!(cache.order.len() <= 2 * 4 + super::SPARE && cache.get(b"47").is_some(), "{cache:?}");
        cache.put(b"50", &one, 10);
        assert!(cache.get(b"50").is_none(), "it is larger than all that may be kept");
    }
}
