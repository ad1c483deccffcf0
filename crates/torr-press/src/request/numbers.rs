//! Numbers that all threads share: each is given out once, in blocks, so that threads seldom meet.

use std::sync::atomic::{AtomicU64, Ordering};

/// Numbers that a thread takes at a time, where there are several.
const BLOCK: u64 = 16;

/// Counts up from 0.
#[derive(Debug, Default)]
pub(super) struct Numbers(AtomicU64);

/// One thread's part of them.
#[derive(Debug)]
pub(super) struct Block<'n> {
    shared: &'n Numbers,
    size: u64,
    next: u64,
    end: u64,
}

impl Numbers {
    /// For one of so many threads. A thread that is alone gets them in their exact order.
    pub fn block(&self, threads: usize) -> Block<'_> {
        Block { shared: self, size: if threads > 1 { BLOCK } else { 1 }, next: 0, end: 0 }
    }
}

impl Block<'_> {
    /// The next number.
    #[inline]
    pub fn take(&mut self) -> u64 {
        if self.next == self.end {
            self.next = self.shared.0.fetch_add(self.size, Ordering::Relaxed);
            self.end = self.next + self.size;
        }
        self.next += 1;
        self.next - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    #[test]
    fn one_thread_has_the_exact_order() {
        let numbers = Numbers::default();
        let (mut one, mut other) = (numbers.block(1), numbers.block(1));
        let taken: Vec<_> = (0..6).map(|n| if n % 3 == 2 { other.take() } else { one.take() }).collect();
        assert_eq!(taken, [0, 1, 2, 3, 4, 5]);
    }

    #[test]
    fn no_number_comes_twice_and_none_is_left_out() {
        let numbers = Numbers::default();
        let take = || {
            let mut block = numbers.block(4);
            (0..1600).map(|_| block.take()).collect::<Vec<_>>()
        };
        let mut all: Vec<_> = thread::scope(|scope| {
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(take)).collect();
            threads.into_iter().flat_map(|thread| thread.join().expect("it only counts")).collect()
        });
        all.sort_unstable();
        assert_eq!(all, (0..6400).collect::<Vec<_>>());
    }
}
