//! The kernel's numbers of Python's threads.
//!
//! From 3.11 on the interpreter has them, as numbers of the process's PID namespace. Before, it has the address that the C library keeps
//! of a thread, and the number is in the structure there, at an offset that all threads of the process have in common.

use super::super::process;
use crate::native::memory::Memory;
use py_spy::StackTrace;
use std::collections::{BTreeMap, BTreeSet};

/// The bytes of the C library's structure that are searched. glibc has the number at 720, musl below 64.
const SEARCHED: usize = 1024;

/// The threads of a process, and how Python's are found among them.
#[derive(Debug, Default)]
pub struct ThreadNumbers {
    /// By the number in the process's namespace, the number here.
    inner: BTreeMap<i32, i32>,
    /// Where the C library's structure has the number.
    offset: Option<usize>,
}

impl ThreadNumbers {
    /// Reads the threads that there are.
    pub fn refresh(&mut self, process: i32) {
        self.inner = process::threads(process);
    }

    /// Returns the threads' numbers here.
    pub fn threads(&self) -> impl Iterator<Item = i32> {
        self.inner.values().copied()
    }

    /// Learns the offset at which the C library's structure has a thread's number, where it is needed.
    pub fn learn(&mut self, traces: &[StackTrace], memory: Memory) {
        if self.offset.is_some() || traces.iter().all(|trace| trace.os_thread_id.is_some()) {
            return;
        }
        let structures: Vec<_> = traces.iter().filter_map(|trace| structure(trace.thread_id, memory)).collect();
        self.offset = offset(&structures, |number| self.inner.contains_key(&number));
    }

    /// Returns the number here of a trace's thread.
    pub fn of(&mut self, trace: &StackTrace, process: i32, memory: Memory) -> Option<i32> {
        let inner = match trace.os_thread_id {
            Some(number) => i32::try_from(number).ok()?,
            None => number_at(&structure(trace.thread_id, memory)?, self.offset?),
        };
        if !self.inner.contains_key(&inner) {
            self.refresh(process);
        }
        self.inner.get(&inner).copied()
    }
}

/// Reads the beginning of the C library's structure of a thread.
fn structure(address: u64, memory: Memory) -> Option<Vec<u8>> {
    let mut bytes = vec![0; SEARCHED];
    memory.fill(address, &mut bytes)?;
    Some(bytes)
}

fn number_at(structure: &[u8], offset: usize) -> i32 {
    let bytes = structure.get(offset..offset + 4).and_then(|bytes| bytes.try_into().ok());
    i32::from_ne_bytes(bytes.unwrap_or_default())
}

/// Returns the first offset at which all structures have numbers of threads, no two of them equal.
fn offset(structures: &[Vec<u8>], is_thread: impl Fn(i32) -> bool) -> Option<usize> {
    let fits = |offset: &usize| {
        let numbers: BTreeSet<_> = structures.iter().map(|bytes| number_at(bytes, *offset)).collect();
        numbers.len() == structures.len() && numbers.into_iter().all(&is_thread)
    };
    if structures.is_empty() { None } else { (0..SEARCHED - 3).step_by(4).find(fits) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_offset_is_common_to_all_threads() {
        let structure = |process: i32, thread: i32| {
            let mut bytes = vec![0; SEARCHED];
            bytes[100..104].copy_from_slice(&process.to_ne_bytes());
            bytes[720..724].copy_from_slice(&thread.to_ne_bytes());
            bytes
        };
        let structures = [structure(40, 40), structure(40, 41), structure(40, 42)];
        assert_eq!(offset(&structures, |number| (40..43).contains(&number)), Some(720));
        assert_eq!(offset(&structures, |number| number == 7), None);
        assert_eq!(offset(&[], |_| true), None);
    }
}
