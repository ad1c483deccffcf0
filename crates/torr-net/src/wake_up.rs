//! An event by which any thread wakes a loop that waits in a [`Poller`](crate::Poller).

use rustix::event::{EventfdFlags, eventfd};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// An eventfd that becomes readable when it is woken and stays readable until it is cleared.
#[derive(Debug)]
pub struct WakeUp(OwnedFd);

impl WakeUp {
    /// Creates an eventfd that is not readable yet.
    ///
    /// # Errors
    /// Returns the errors of `eventfd(2)`.
    pub fn new() -> io::Result<Self> {
        Ok(Self(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?))
    }

    /// Makes the eventfd readable for every poller that watches it.
    pub fn wake(&self) {
        // A write fails only when the counter has reached 2^64 - 2, and then the eventfd is readable already.
        let _ = rustix::io::write(&self.0, &1u64.to_ne_bytes());
    }

    /// Consumes all wake-ups so far.
    pub fn clear(&self) {
        // Reading fails where there was no wake-up, and then there is nothing to consume.
        let _ = rustix::io::read(&self.0, &mut [0; 8]);
    }
}

impl AsFd for WakeUp {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
