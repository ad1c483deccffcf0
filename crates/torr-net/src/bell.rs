//! A signal to all loops at once.

use rustix::event::{EventfdFlags, eventfd};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// Once rung, it is readable to every poller that watches it, until somebody clears it.
#[derive(Debug)]
pub struct Bell(OwnedFd);

impl Bell {
    /// A bell that has not been rung.
    ///
    /// # Errors
    /// If the kernel has no room for one more descriptor.
    pub fn new() -> io::Result<Self> {
        Ok(Self(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?))
    }

    /// Rings it, from any thread and as often as you like.
    pub fn ring(&self) {
        // It can only fail when it has been rung 2^64 times, and then it is readable too.
        let _ = rustix::io::write(&self.0, &1u64.to_ne_bytes());
    }

    /// Makes it as if it had not been rung.
    pub fn clear(&self) {
        // Nothing to read means that it was not.
        let _ = rustix::io::read(&self.0, &mut [0; 8]);
    }
}

impl AsFd for Bell {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
