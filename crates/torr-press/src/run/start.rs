//! The start of a run: the run's clock begins when every load thread has prepared its part.
//!
//! A thread may get its first CPU time late on a busy machine. A clock that ran already would take that delay from the measured time,
//! all of it if the run is short.

use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;
use torr_net::Clock;

/// The longest time for which a waiting thread does not see that the run was stopped.
const STOP_POLL: Duration = Duration::from_millis(20);

/// The start that all threads of a run share.
#[derive(Debug)]
pub(crate) struct Start {
    clock: OnceLock<Clock>,
    /// The number of threads that have not ended their preparation.
    preparing: Mutex<usize>,
    all_ready: Condvar,
}

impl Start {
    /// Returns the start of a run of this many threads. A `clock` is given where others begin at its epoch as well, such as the agents of
    /// a fleet; then no thread waits for another.
    pub fn new(threads: usize, clock: Option<Clock>) -> Self {
        let known = OnceLock::new();
        if let Some(clock) = clock {
            // The cell is new, so it is empty.
            let _ = known.set(clock);
        }
        Self { clock: known, preparing: Mutex::new(threads), all_ready: Condvar::new() }
    }

    /// Begins the preparation of one thread, which ends when the returned value is dropped: where the preparation fails, too, so that no
    /// other thread waits in vain.
    pub fn prepare(&self) -> Preparation<'_> {
        Preparation(self)
    }

    /// Waits until every thread has ended its preparation, or until the run is stopped. Returns the clock of the run.
    pub fn clock(&self, is_stopped: impl Fn() -> bool) -> Clock {
        let mut preparing = self.lock();
        while self.clock.get().is_none() && !is_stopped() {
            let waited = self.all_ready.wait_timeout(preparing, STOP_POLL);
            preparing = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        drop(preparing);
        *self.clock.get_or_init(Clock::start)
    }

    fn lock(&self) -> MutexGuard<'_, usize> {
        // The number is whole whenever the lock is given back.
        self.preparing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The preparation of one thread.
#[derive(Debug)]
pub(crate) struct Preparation<'s>(&'s Start);

impl Drop for Preparation<'_> {
    fn drop(&mut self) {
        let mut preparing = self.0.lock();
        *preparing = preparing.saturating_sub(1);
        if *preparing == 0 {
            self.0.clock.get_or_init(Clock::start);
            self.0.all_ready.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, Ordering};

    #[test]
    fn the_clock_begins_with_the_last_thread_even_if_that_one_fails() {
        let start = Start::new(3, None);
        drop(start.prepare());
        let failing = start.prepare();
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| {
                drop(start.prepare());
                start.clock(|| false)
            });
            assert!(start.clock.get().is_none(), "one thread still prepares");
            let before = Clock::start();
            drop(failing);
            let clock = waiting.join().expect("it does not panic");
            // Read first: time passes between both readings.
            let since_start = clock.now();
            assert!(before.now() >= since_start, "the clock began before the last thread was ready");
        });
    }

    #[test]
    fn a_stopped_run_waits_for_no_thread() {
        let (start, stop) = (Start::new(2, None), AtomicBool::new(false));
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| start.clock(|| stop.load(Ordering::Relaxed)));
            stop.store(true, Ordering::Relaxed);
            waiting.join().expect("it does not panic");
        });
    }

    #[test]
    fn a_given_clock_is_known_before_any_thread_is_ready() {
        let clock = Clock::start().with_epoch(60_000_000_000);
        assert!(Start::new(2, Some(clock)).clock(|| false).until_epoch() > Duration::from_secs(50));
    }
}
