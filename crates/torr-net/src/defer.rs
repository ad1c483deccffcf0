//! The socket option TCP_DEFER_ACCEPT, which no safe wrapper has.

use std::io;
use std::os::fd::{AsFd, AsRawFd};

/// Defers connections of a listener until their first bytes arrive, for about a second at most.
///
/// # Errors
/// Returns the errors of `setsockopt(2)`.
#[allow(unsafe_code)]
pub(crate) fn defer_accept(listener: impl AsFd) -> io::Result<()> {
    let seconds: libc::c_int = 1;
    // SAFETY: the descriptor is borrowed and so valid, and the option's value is an int that outlives the call.
    let set = unsafe {
        libc::setsockopt(
            listener.as_fd().as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_DEFER_ACCEPT,
            (&raw const seconds).cast(),
            size_of_val(&seconds) as libc::socklen_t,
        )
    };
    if set == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
