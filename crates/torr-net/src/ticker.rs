//! A periodic timer event for an event loop that otherwise waits without a time-out.

use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create, timerfd_settime,
};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

/// A timerfd that becomes readable once in every interval.
///
/// A ticker costs less than a time-out of each wait, for which the kernel arms and disarms a timer.
#[derive(Debug)]
pub struct Ticker(OwnedFd);

impl Ticker {
    /// Creates and arms the timer.
    ///
    /// # Errors
    /// Returns the errors of `timerfd_create(2)` and `timerfd_settime(2)`.
    pub fn new(interval: Duration) -> io::Result<Self> {
        let ticker = Self(timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK)?);
        ticker.set(interval)?;
        Ok(ticker)
    }

    /// Changes the interval; 0 disarms the timer.
    ///
    /// # Errors
    /// Returns the errors of `timerfd_settime(2)`.
    pub fn set(&self, interval: Duration) -> io::Result<()> {
        let time = Timespec { tv_sec: interval.as_secs() as i64, tv_nsec: interval.subsec_nanos().into() };
        let every = Itimerspec { it_interval: time, it_value: time };
        timerfd_settime(&self.0, TimerfdTimerFlags::empty(), &every)?;
        Ok(())
    }

    /// Consumes the tick, so that only the next one makes the timer readable again.
    pub fn clear(&self) {
        // Reading fails where there was no tick, and then there is nothing to consume.
        let _ = rustix::io::read(&self.0, &mut [0; 8]);
    }
}

impl AsFd for Ticker {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
