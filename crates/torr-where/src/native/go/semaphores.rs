//! Who waits for which semaphore: the runtime's table of semaphores, by which its mutexes wait.

use super::layout::Layout;
use crate::native::memory::Memory;
use std::collections::HashMap;

/// The buckets of the runtime's table.
const BUCKETS: usize = 251;
/// The most waits that are followed in one reading.
const WAITS: usize = 20_000;

/// The table of semaphores of a program.
#[derive(Debug, Clone, Copy)]
pub struct Semaphores {
    address: u64,
    /// The bytes of a bucket.
    stride: usize,
}

impl Semaphores {
    /// Returns the table at an address, given its size in bytes.
    pub fn at(address: u64, size: u64) -> Option<Self> {
        let stride = usize::try_from(size).ok()? / BUCKETS;
        (16..=1024).contains(&stride).then_some(Self { address, stride })
    }

    /// Reads the semaphore's address by the address of the goroutine that waits for it.
    pub fn read(self, memory: Memory, layout: &Layout) -> HashMap<u64, u64> {
        let mut found = HashMap::new();
        let table = memory.bytes(self.address, self.stride * BUCKETS);
        let roots = table.chunks_exact(self.stride).filter_map(|bucket| word(bucket, layout.tree));
        // The trees change while they are read: what is followed is bounded, and what is not readable is left out.
        let mut open: Vec<u64> = roots.filter(|&root| root != 0).collect();
        let length = [layout.waiter, layout.semaphore, layout.branches[0], layout.branches[1], layout.next];
        let length = length.into_iter().max().unwrap_or(0) + 8;
        let mut seen = 0;
        while let Some(wait) = open.pop() {
            seen += 1;
            if seen > WAITS {
                break;
            }
            let bytes = memory.bytes(wait, length);
            let (Some(waiter), Some(semaphore)) = (word(&bytes, layout.waiter), word(&bytes, layout.semaphore)) else {
                continue;
            };
            if found.insert(waiter, semaphore).is_some() {
                continue;
            }
            // Waits in the list of a semaphore have no branches of their own.
            let others = layout.branches.into_iter().chain([layout.next]);
            open.extend(others.filter_map(|at| word(&bytes, at)).filter(|&other| other != 0));
        }
        found
    }
}

/// Returns the number at an offset.
pub fn word(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_ne_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
}
