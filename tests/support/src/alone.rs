//! Tests that measure, one at a time.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Waits until no other test of this process holds the value, and keeps the others waiting for as long as the value lives.
///
/// The threads of a test program run several tests at once, which take the CPU from each other. A test that measures times or CPU use
/// begins with this call and stands in a program whose tests all do; cargo runs test programs one after another.
#[must_use = "the lock ends with the value"]
pub fn alone() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    // A test that failed has left nothing behind that the lock would guard.
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}
