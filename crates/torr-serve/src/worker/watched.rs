//! The engine's poller, watched by tokio.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use torr_net::Poller;

/// A descriptor that tokio reports as readable whenever the poller has something to report itself.
///
/// # Errors
/// If the kernel has no room for one more descriptor.
#[allow(unsafe_code)]
pub(crate) fn watch(poller: &Poller) -> io::Result<AsyncFd<OwnedFd>> {
    let descriptor = poller.as_fd().try_clone_to_owned()?;
    // SAFETY: the descriptor is valid, and the returned value owns and closes it.
    let watched = unsafe { AsyncFd::register_with_interest(descriptor, Interest::READABLE) };
    watched.map_err(io::Error::from)
}
