//! Whether a load thread is deciding what its users do, for others to see: a decision may not come to an end.

use std::sync::atomic::{AtomicU64, Ordering};

/// The decisions of one thread, on a cache line of its own.
#[derive(Debug, Default)]
#[repr(align(128))]
pub struct DecisionCount(AtomicU64);

impl DecisionCount {
    /// Makes a decision. Only the thread itself may.
    #[inline]
    pub fn during<R>(&self, decide: impl FnOnce() -> R) -> R {
        let count = self.0.load(Ordering::Relaxed);
        self.0.store(count.wrapping_add(1), Ordering::Relaxed);
        let outcome = decide();
        self.0.store(count.wrapping_add(2), Ordering::Relaxed);
        outcome
    }

    /// Returns the number that is odd while a decision is being made, as [`Users::decisions`](super::Users::decisions) does.
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}
