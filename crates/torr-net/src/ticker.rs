//! A regular event for a loop that otherwise waits for as long as it takes.

use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create, timerfd_settime,
};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

/// Readable once in every interval. To wait without a time limit and be told by this costs less than a time limit on
/// each wait, for which the kernel sets up a timer and takes it down again.
#[derive(Debug)]
pub struct Ticker(OwnedFd);

impl Ticker {
    /// Begins to tick.
    ///
    /// # Errors
    /// As `timerfd_create(2)`.
    pub fn new(interval: Duration) -> io::Result<Self> {
        let ticker = Self(timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK)?);
        ticker.set(interval)?;
        Ok(ticker)
    }

    /// Goes on in another interval.
    ///
    /// # Errors
    /// As `timerfd_settime(2)`; an interval of 0 would end the ticking.
    pub fn set(&self, interval: Duration) -> io::Result<()> {
        let time = Timespec { tv_sec: interval.as_secs() as i64, tv_nsec: interval.subsec_nanos().into() };
        let every = Itimerspec { it_interval: time, it_value: time };
        timerfd_settime(&self.0, TimerfdTimerFlags::empty(), &every)?;
        Ok(())
    }

    /// Takes note of a tick, so that the next one is an event again.
    pub fn clear(&self) {
        // Nothing to read means that there was none.
        let _ = rustix::io::read(&self.0, &mut [0; 8]);
    }
}

impl AsFd for Ticker {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
