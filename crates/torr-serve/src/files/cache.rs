//! The files that a worker has in memory.

use super::resource::Resource;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

thread_local! {
    /// The caches of this worker, one for each folder.
    static CACHES: RefCell<HashMap<u64, Cache>> = RefCell::default();
}

/// The resources of one folder by their paths.
#[derive(Debug, Default)]
pub(super) struct Cache {
    known: HashMap<Box<[u8]>, Rc<Resource>>,
    bytes: usize,
}

impl Cache {
    /// Calls a function with this worker's cache of a folder.
    pub fn with<T>(folder: u64, then: impl FnOnce(&mut Self) -> T) -> T {
        CACHES.with_borrow_mut(|caches| then(caches.entry(folder).or_default()))
    }

    /// Returns what is known of a path, if it is not too old.
    pub fn get(&mut self, path: &[u8]) -> Option<Rc<Resource>> {
        let known = self.known.get(path)?;
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
        while self.bytes + added > most {
            // Any of them: the order of a map is random, and what is wanted often is soon here again.
            let Some(other) = self.known.keys().next().cloned() else { break };
            self.remove(&other);
        }
        self.bytes += added;
        self.known.insert(path.into(), Rc::clone(resource));
    }

    /// Forgets what is known of a path.
    pub fn remove(&mut self, path: &[u8]) {
        if let Some((path, resource)) = self.known.remove_entry(path) {
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
        cache.put(b"50", &one, 10);
        assert!(cache.get(b"50").is_none(), "it is larger than all that may be kept");
    }
}
