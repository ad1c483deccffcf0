//! The order to stop, given to all event loops of a process at once.

use crate::{Nanos, WakeUp, clock};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::atomic::{AtomicU64, Ordering};

/// The value of [`StopSignal::state`] after [`StopSignal::drain`] alone.
const DRAINING: Nanos = Nanos::MAX;

/// An order to stop or to drain, which wakes every poller that watches it.
///
/// To drain is to end once the connections have ended by themselves; to stop is to end them within a time limit. A stop
/// overrides a drain, and a drain never overrides a stop.
#[derive(Debug)]
pub struct StopSignal {
    wake_up: WakeUp,
    /// 0 without an order, [`DRAINING`] after a drain, otherwise the coarse time of the last stop.
    state: AtomicU64,
}

impl StopSignal {
    /// Creates a signal without an order.
    ///
    /// # Errors
    /// Returns the errors of `eventfd(2)`.
    pub fn new() -> io::Result<Self> {
        Ok(Self { wake_up: WakeUp::new()?, state: AtomicU64::new(0) })
    }

    /// Orders all loops to stop, from any thread and any number of times.
    pub fn stop(&self) {
        self.state.store(clock::coarse().clamp(1, DRAINING - 1), Ordering::Release);
        self.wake_up.wake();
    }

    /// Orders all loops to drain, unless there is an order already.
    pub fn drain(&self) {
        // A failed exchange means that an order of at least this urgency stands.
        let _ = self.state.compare_exchange(0, DRAINING, Ordering::Release, Ordering::Relaxed);
        self.wake_up.wake();
    }

    /// Returns whether the order is to drain, not to stop.
    pub fn is_draining(&self) -> bool {
        self.state.load(Ordering::Acquire) == DRAINING
    }

    /// Returns the time of the last stop by the coarse clock; 0 if there was none.
    pub fn stopped_at(&self) -> Nanos {
        match self.state.load(Ordering::Acquire) {
            DRAINING => 0,
            time => time,
        }
    }
}

impl AsFd for StopSignal {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.wake_up.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stop_overrides_a_drain_and_a_drain_no_stop() {
        let signal = StopSignal::new().expect("there is room for a descriptor");
        assert_eq!((signal.is_draining(), signal.stopped_at()), (false, 0));
        signal.drain();
        assert_eq!((signal.is_draining(), signal.stopped_at()), (true, 0));
        signal.stop();
        assert!(!signal.is_draining() && signal.stopped_at() > 0);
        signal.drain();
        assert!(!signal.is_draining() && signal.stopped_at() > 0);
    }
}
