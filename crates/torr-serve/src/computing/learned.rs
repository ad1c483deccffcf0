//! The routes that were seen to compute, for all workers of a process.

use super::path_shape::PathShape;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Most routes that are kept: further ones are counted only.
const ROUTES: usize = 64;
/// The number of routes that differ in one segment and are taken for one route with a parameter.
const ALIKE: usize = 3;
/// The number of short calls in succession after which a route returns to the workers. It grows each time by this factor: a route
/// that computes now and then must not stall a worker each time.
const PATIENCE: u32 = 64;
const PATIENCE_GROWS: u32 = 4;

/// The result of a long call for its route.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Lesson {
    Known,
    /// The first long call of a route that is moved from now on.
    Moved(String),
    /// The first long call of a route that stays.
    Named(String),
}

#[derive(Debug)]
struct Entry {
    id: usize,
    method: String,
    shape: PathShape,
    is_moved: bool,
    /// The number of short calls since the last long one.
    short: u32,
    patience: u32,
}

#[derive(Debug, Default)]
pub(super) struct Learned {
    entries: Mutex<Vec<Entry>>,
    /// The number of entries that are moved.
    moved: AtomicUsize,
}

impl Learned {
    fn lock(&self) -> MutexGuard<'_, Vec<Entry>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn has_moved(&self) -> bool {
        self.moved.load(Ordering::Relaxed) > 0
    }

    /// Notes a long call of a route.
    pub fn learn(&self, method: &str, path: &str, is_movable: bool) -> Lesson {
        let mut entries = self.lock();
        let known = entries.iter_mut().find(|entry| entry.method == method && entry.shape.matches(path));
        if let Some(known) = known {
            known.is_moved |= is_movable;
            self.count(&entries);
            return Lesson::Known;
        }
        if entries.len() >= ROUTES {
            return Lesson::Known;
        }
        let mut shape = PathShape::of(path);
        let joins = |entry: &Entry, shape: &PathShape| {
            let is_same = entry.method == method && entry.is_moved == is_movable;
            entry.shape.joined(shape).filter(|_| is_same)
        };
        let wider = entries.iter().filter_map(|entry| joins(entry, &shape)).collect::<Vec<_>>();
        let is_common = |one: &&PathShape| wider.iter().filter(|other| other == one).count() + 1 >= ALIKE;
        if let Some(wider) = wider.iter().find(is_common) {
            entries.retain(|entry| joins(entry, &shape).as_ref() != Some(wider));
            shape = wider.clone();
        }
        let (id, name) = (entries.iter().map(|entry| entry.id + 1).max().unwrap_or(0), shape.to_string());
        entries.push(Entry {
            id,
            method: method.to_owned(),
            shape,
            is_moved: is_movable,
            short: 0,
            patience: PATIENCE,
        });
        self.count(&entries);
        if is_movable { Lesson::Moved(name) } else { Lesson::Named(name) }
    }

    /// Returns the entry of a request that is to be moved.
    pub fn find(&self, method: &str, path: &str) -> Option<usize> {
        if !self.has_moved() {
            return None;
        }
        let entries = self.lock();
        let fits = |entry: &&Entry| entry.is_moved && entry.method == method && entry.shape.matches(path);
        entries.iter().find(fits).map(|entry| entry.id)
    }

    /// Notes a moved call: a route whose calls are short returns to the workers.
    pub fn ran(&self, id: usize, is_long: bool) {
        let mut entries = self.lock();
        let Some(entry) = entries.iter_mut().find(|entry| entry.id == id) else { return };
        entry.short = if is_long { 0 } else { entry.short + 1 };
        if entry.short >= entry.patience {
            (entry.short, entry.is_moved) = (0, false);
            entry.patience = entry.patience.saturating_mul(PATIENCE_GROWS);
            self.count(&entries);
        }
    }

    fn count(&self, entries: &[Entry]) {
        self.moved.store(entries.iter().filter(|entry| entry.is_moved).count(), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_route_is_named_once_and_moved() {
        let learned = Learned::default();
        assert_eq!(learned.find("GET", "/report/7"), None);
        assert_eq!(learned.learn("GET", "/report/7", true), Lesson::Moved("/report/*".to_owned()));
        assert_eq!(learned.learn("GET", "/report/8", true), Lesson::Known);
        assert!(learned.find("GET", "/report/9").is_some());
        assert_eq!((learned.find("POST", "/report/9"), learned.find("GET", "/")), (None, None));
        assert_eq!(learned.learn("GET", "/stays", false), Lesson::Named("/stays".to_owned()));
        assert_eq!(learned.find("GET", "/stays"), None);
    }

    #[test]
    fn three_routes_that_differ_in_one_segment_are_one() {
        let learned = Learned::default();
        for name in ["ann", "bob"] {
            assert_eq!(learned.learn("GET", &format!("/of/{name}"), true), Lesson::Moved(format!("/of/{name}")));
            assert_eq!(learned.find("GET", "/of/cleo"), None);
        }
        assert_eq!(learned.learn("GET", "/of/cleo", true), Lesson::Moved("/of/*".to_owned()));
        assert!(learned.find("GET", "/of/dan").is_some());
        assert_eq!(learned.lock().len(), 1);
    }

    #[test]
    fn a_route_whose_calls_are_short_returns_and_is_then_given_more_patience() {
        let learned = Learned::default();
        learned.learn("GET", "/", true);
        for patience in [PATIENCE, PATIENCE * PATIENCE_GROWS] {
            let id = learned.find("GET", "/").expect("it is moved");
            (1..patience).for_each(|_| learned.ran(id, false));
            learned.ran(id, true);
            (1..patience).for_each(|_| learned.ran(id, false));
            assert!(learned.has_moved(), "a long call begins the count anew");
            learned.ran(id, false);
            assert_eq!((learned.has_moved(), learned.find("GET", "/")), (false, None));
            assert_eq!(learned.learn("GET", "/", true), Lesson::Known, "it is not named again");
        }
    }

    #[test]
    fn the_number_of_routes_is_bounded() {
        let learned = Learned::default();
        (0..2 * ROUTES).for_each(|n| drop(learned.learn(&format!("M{n}"), "/", true)));
        assert_eq!(learned.lock().len(), ROUTES);
    }
}
