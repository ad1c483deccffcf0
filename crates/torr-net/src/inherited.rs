//! Descriptors that the process that started this one has left open for it, known by their numbers.

use rustix::fs::fstat;
use rustix::io::{FdFlags, fcntl_setfd};
use std::io;
use std::os::fd::{BorrowedFd, FromRawFd, OwnedFd, RawFd};

/// The number of the file behind a descriptor, by which parent and child can make sure that they speak of the same one.
/// `None` if there is no such descriptor.
#[allow(unsafe_code)]
pub fn inode(number: RawFd) -> Option<u64> {
    if number < 0 {
        return None;
    }
    // SAFETY: it is used for one call only, which tells if there is no such descriptor, and changes nothing if there is.
    let descriptor = unsafe { BorrowedFd::borrow_raw(number) };
    fstat(descriptor).ok().map(|about| about.st_ino)
}

/// Keeps a descriptor from programs that are started later, without taking it.
///
/// # Errors
/// If there is no such descriptor.
#[allow(unsafe_code)]
pub fn set_close_on_exec(number: RawFd) -> io::Result<()> {
    if number < 0 {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    // SAFETY: it is used for one call only, which tells if there is no such descriptor, and closes nothing if there is.
    Ok(fcntl_setfd(unsafe { BorrowedFd::borrow_raw(number) }, FdFlags::CLOEXEC)?)
}

/// Makes a descriptor one's own, and keeps it from programs that are started later.
///
/// # Safety
/// The number must be that of a descriptor which this process was started with, and which was meant for the caller: nothing else
/// in this process may own it, now or later. Otherwise two owners close it, and the second one closes a file of somebody else.
///
/// # Errors
/// If there is no such descriptor.
#[allow(unsafe_code)]
pub unsafe fn take(number: RawFd) -> io::Result<OwnedFd> {
    if inode(number).is_none() {
        return Err(io::Error::other(format!("descriptor {number} is not open")));
    }
    // SAFETY: it is open, and by the contract of this function nobody else owns it.
    let descriptor = unsafe { OwnedFd::from_raw_fd(number) };
    fcntl_setfd(&descriptor, FdFlags::CLOEXEC)?;
    Ok(descriptor)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::io::fcntl_getfd;
    use std::os::fd::{AsRawFd, IntoRawFd};
    use std::os::unix::net::UnixStream;

    #[test]
    fn what_is_kept_is_closed_in_other_programs() {
        let (one, _other) = UnixStream::pair().expect("there is room for descriptors");
        fcntl_setfd(&one, FdFlags::empty()).expect("it is open");
        set_close_on_exec(one.as_raw_fd()).expect("it is open");
        assert_eq!(fcntl_getfd(&one).expect("it is open"), FdFlags::CLOEXEC);
        assert!(set_close_on_exec(-1).is_err() && set_close_on_exec(RawFd::MAX).is_err());
    }

    #[test]
    #[allow(unsafe_code)]
    fn what_is_open_is_known_and_taken() {
        let (one, other) = UnixStream::pair().expect("there is room for descriptors");
        assert_ne!(inode(one.as_raw_fd()), None);
        assert_ne!(inode(one.as_raw_fd()), inode(other.as_raw_fd()));
        let number = one.into_raw_fd();
        // SAFETY: its owner has just let go of it.
        let taken = unsafe { take(number) };
        assert_eq!(taken.expect("it is open").as_raw_fd(), number);
        // Far beyond what the limit of open files allows.
        for absent in [-1, RawFd::MAX] {
            assert_eq!(inode(absent), None);
            // SAFETY: there is no such descriptor to be owned.
            assert!(unsafe { take(absent) }.is_err());
        }
    }
}
