//! Descriptors that tokio watches.

use std::io;
use std::os::fd::OwnedFd;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// Returns a descriptor that tokio reports as ready.
///
/// # Errors
/// If the kernel has no room for one more descriptor.
#[allow(unsafe_code)]
pub(crate) fn watch(descriptor: OwnedFd, interest: Interest) -> io::Result<AsyncFd<OwnedFd>> {
    // SAFETY: the descriptor is valid, and the returned value owns and closes it.
    let watched = unsafe { AsyncFd::register_with_interest(descriptor, interest) };
    watched.map_err(io::Error::from)
}
