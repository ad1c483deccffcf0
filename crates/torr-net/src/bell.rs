//! A signal to all loops at once.

use crate::Nanos;
use crate::clock;
use rustix::event::{EventfdFlags, eventfd};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};

/// What stands for a time where it was rung softly only.
const SOFTLY: Nanos = Nanos::MAX;

/// Once rung, it is readable to every poller that watches it, until somebody clears it.
#[derive(Debug)]
pub struct Bell {
    event: OwnedFd,
    /// When it was last rung loudly, 0 if it was not rung at all.
    rung: AtomicU64,
}

impl Bell {
    /// A bell that has not been rung.
    ///
    /// # Errors
    /// If the kernel has no room for one more descriptor.
    pub fn new() -> io::Result<Self> {
        Ok(Self { event: eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?, rung: AtomicU64::new(0) })
    }

    /// Rings it, from any thread and as often as you like.
    pub fn ring(&self) {
        self.rung.store(clock::coarse().clamp(1, SOFTLY - 1), Ordering::Release);
        self.wake();
    }

    /// Rings it for those who may take their time, unless it has been rung already.
    pub fn ring_softly(&self) {
        // Whoever rang it before was at least as urgent.
        let _ = self.rung.compare_exchange(0, SOFTLY, Ordering::Release, Ordering::Relaxed);
        self.wake();
    }

    /// Whether it was rung, but only ever softly.
    pub fn is_soft(&self) -> bool {
        self.rung.load(Ordering::Acquire) == SOFTLY
    }

    /// When it was last rung loudly, by the coarse clock; 0 if it never was.
    pub fn rung_at(&self) -> Nanos {
        match self.rung.load(Ordering::Acquire) {
            SOFTLY => 0,
            time => time,
        }
    }

    fn wake(&self) {
        // It can only fail when it has been rung 2^64 times, and then it is readable too.
        let _ = rustix::io::write(&self.event, &1u64.to_ne_bytes());
    }

    /// Makes it as if it had not been rung.
    pub fn clear(&self) {
        self.rung.store(0, Ordering::Release);
        // Nothing to read means that it was not.
        let _ = rustix::io::read(&self.event, &mut [0; 8]);
    }
}

impl AsFd for Bell {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.event.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loud_ring_is_heard_after_a_soft_one_but_not_the_other_way_round() {
        let bell = Bell::new().expect("there is room for a descriptor");
        assert_eq!((bell.is_soft(), bell.rung_at()), (false, 0));
        bell.ring_softly();
        assert_eq!((bell.is_soft(), bell.rung_at()), (true, 0));
        bell.ring();
        assert!(!bell.is_soft() && bell.rung_at() > 0);
        bell.ring_softly();
        assert!(!bell.is_soft() && bell.rung_at() > 0);
    }
}
