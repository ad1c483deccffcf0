//! File descriptors that are inherited from the parent process and known by their numbers.

use rustix::fs::fstat;
use rustix::io::{FdFlags, fcntl_setfd};
use std::io;
use std::os::fd::{BorrowedFd, FromRawFd, OwnedFd, RawFd};

/// Returns the inode of an open descriptor, by which parent and child identify the same file. `None` if the descriptor is
/// not open.
#[allow(unsafe_code)]
pub fn inode(number: RawFd) -> Option<u64> {
    if number < 0 {
        return None;
    }
    // SAFETY: the descriptor is borrowed for one call only, which fails if it is not open and changes nothing otherwise.
    let descriptor = unsafe { BorrowedFd::borrow_raw(number) };
    fstat(descriptor).ok().map(|about| about.st_ino)
}

/// Sets the close-on-exec flag of a descriptor, without taking ownership.
///
/// # Errors
/// If the descriptor is not open.
#[allow(unsafe_code)]
pub fn set_close_on_exec(number: RawFd) -> io::Result<()> {
    if number < 0 {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    // SAFETY: the descriptor is borrowed for one call only, which fails if it is not open and closes nothing otherwise.
    Ok(fcntl_setfd(unsafe { BorrowedFd::borrow_raw(number) }, FdFlags::CLOEXEC)?)
}

/// Takes ownership of a descriptor and sets its close-on-exec flag.
///
/// # Safety
/// The descriptor must have been inherited for the caller: nothing else in this process may own it, now or later. With two
/// owners the second one would close an unrelated file.
///
/// # Errors
/// If the descriptor is not open.
#[allow(unsafe_code)]
pub unsafe fn take(number: RawFd) -> io::Result<OwnedFd> {
    if inode(number).is_none() {
        return Err(io::Error::other(format!("descriptor {number} is not open")));
    }
    // SAFETY: the descriptor is open, and by the contract of this function it has no other owner.
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
    fn a_descriptor_is_closed_on_exec() {
        let (one, _other) = UnixStream::pair().expect("there is room for descriptors");
        fcntl_setfd(&one, FdFlags::empty()).expect("it is open");
        set_close_on_exec(one.as_raw_fd()).expect("it is open");
        assert_eq!(fcntl_getfd(&one).expect("it is open"), FdFlags::CLOEXEC);
        assert!(set_close_on_exec(-1).is_err() && set_close_on_exec(RawFd::MAX).is_err());
    }

    #[test]
    #[allow(unsafe_code)]
    fn an_open_descriptor_has_an_inode_and_can_be_taken() {
        let (one, other) = UnixStream::pair().expect("there is room for descriptors");
        assert_ne!(inode(one.as_raw_fd()), None);
        assert_ne!(inode(one.as_raw_fd()), inode(other.as_raw_fd()));
        let number = one.into_raw_fd();
        // SAFETY: `into_raw_fd` has given up the ownership.
        let taken = unsafe { take(number) };
        assert_eq!(taken.expect("it is open").as_raw_fd(), number);
        // Numbers beyond any limit of open files.
        for absent in [-1, RawFd::MAX] {
            assert_eq!(inode(absent), None);
            // SAFETY: the descriptor is not open, so nothing owns it.
            assert!(unsafe { take(absent) }.is_err());
        }
    }
}
