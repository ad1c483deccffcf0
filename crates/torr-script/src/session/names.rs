//! The entries of sessions and their checks, which get their numbers when scripts first come to them.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use torr_gauge::sessions::EntryName;

/// The most entries of a script: each has histograms of its own on every thread. Further ones are counted together.
const MOST_ENTRIES: usize = 100;
/// The most checks of an entry. Further ones are counted together.
const MOST_CHECKS: usize = 100;
/// The name of what is counted together.
const OTHERS: &str = "others";

/// The entries and checks of all threads.
#[derive(Debug)]
pub struct Names {
    file: String,
    entries: Mutex<Vec<EntryName>>,
}

impl Names {
    /// Returns the names of a script's entries, of which none is known yet.
    pub fn new(file: String) -> Self {
        Self { file, entries: Mutex::default() }
    }

    /// Returns the entries that are known.
    pub fn entries(&self) -> Vec<EntryName> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn entry(&self, name: &str) -> u32 {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let is_known = entries.iter().any(|entry| entry.name == name);
        let name = if is_known || entries.len() < MOST_ENTRIES { name } else { OTHERS };
        let position = entries.iter().position(|entry| entry.name == name).unwrap_or_else(|| {
            let (name, file) = (name.to_owned(), self.file.clone());
            entries.push(EntryName { name, file, line: 1, asserts: Vec::new() });
            entries.len() - 1
        });
        position as u32
    }

    fn check(&self, entry: u32, name: &str) -> usize {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(entry) = entries.get_mut(entry as usize) else { return 0 };
        let checks = &mut entry.asserts;
        let is_known = checks.iter().any(|check| check == name);
        let name = if is_known || checks.len() < MOST_CHECKS { name } else { OTHERS };
        checks.iter().position(|check| check == name).unwrap_or_else(|| {
            checks.push(name.to_owned());
            checks.len() - 1
        })
    }
}

/// The numbers that one thread has come across, so that threads seldom meet over names.
#[derive(Debug)]
pub struct NameCache<'r> {
    names: &'r Names,
    entries: HashMap<String, u32>,
    checks: Vec<HashMap<String, usize>>,
}

impl<'r> NameCache<'r> {
    /// Returns an empty cache.
    pub fn new(names: &'r Names) -> Self {
        Self { names, entries: HashMap::new(), checks: Vec::new() }
    }

    /// Returns the number of an entry.
    pub fn entry(&mut self, name: &str) -> u32 {
        if let Some(number) = self.entries.get(name) {
            return *number;
        }
        let number = self.names.entry(name);
        if self.entries.len() < MOST_ENTRIES {
            self.entries.insert(name.to_owned(), number);
        }
        number
    }

    /// Returns the number of a check among those of its entry.
    pub fn check(&mut self, entry: u32, name: &str) -> usize {
        if self.checks.len() <= entry as usize {
            self.checks.resize_with(entry as usize + 1, HashMap::new);
        }
        let of_entry = &mut self.checks[entry as usize];
        if let Some(number) = of_entry.get(name) {
            return *number;
        }
        let number = self.names.check(entry, name);
        if of_entry.len() < MOST_CHECKS {
            of_entry.insert(name.to_owned(), number);
        }
        number
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_one_number_on_all_threads_and_are_bounded() {
        let names = Names::new("a.lua".to_owned());
        let (mut one, mut other) = (NameCache::new(&names), NameCache::new(&names));
        assert_eq!([one.entry("a"), one.entry("b"), other.entry("b"), other.entry("a")], [0, 1, 1, 0]);
        assert_eq!([one.check(1, "x"), other.check(1, "y"), one.check(1, "y")], [0, 1, 1]);
        let numbers: Vec<_> = (0..300).map(|n| one.entry(&format!("entry {n}"))).collect();
        assert_eq!((numbers[97], numbers[98], numbers[299]), (99, 100, 100));
        assert_eq!(names.entries()[100].name, OTHERS);
        assert_eq!(names.entries().len(), 101);
    }
}
