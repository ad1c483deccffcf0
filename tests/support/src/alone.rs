//! Tests that measure, one at a time.

use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// A test that failed has left nothing behind that the lock would guard, so a poisoned lock is taken.
static MEASURING: RwLock<()> = RwLock::new(());

/// Waits until no other test of this process holds a value of [`alone`] or [`beside`], and keeps all of them waiting for as long as
/// the returned value lives.
///
/// The threads of a test program run several tests at once, which take the CPU from each other. A test whose result depends on that
/// begins with this call, in a program whose tests all begin with one of the two; cargo runs test programs one after another.
#[must_use = "the lock ends with the value"]
pub fn alone() -> RwLockWriteGuard<'static, ()> {
    MEASURING.write().unwrap_or_else(PoisonError::into_inner)
}

/// Waits until no other test of this process is [`alone`], and keeps such tests waiting for as long as the returned value lives.
#[must_use = "the lock ends with the value"]
pub fn beside() -> RwLockReadGuard<'static, ()> {
    MEASURING.read().unwrap_or_else(PoisonError::into_inner)
}
