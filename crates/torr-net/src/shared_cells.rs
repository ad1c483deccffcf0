//! Numbers that several processes add to and read: memory with a descriptor, to be inherited.

use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, fcntl_get_seals, fstat, ftruncate, memfd_create};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use std::io;
use std::ops::Deref;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::ptr::{NonNull, null_mut};
use std::sync::atomic::AtomicU64;

const CELL: usize = size_of::<AtomicU64>();

/// A row of numbers, all 0 at first, which lasts as long as any process has it.
#[derive(Debug)]
pub struct SharedCells {
    memory: NonNull<AtomicU64>,
    count: usize,
    descriptor: OwnedFd,
}

// SAFETY: the memory is this value's own until it is dropped, and holds nothing but atomic numbers.
#[allow(unsafe_code)]
unsafe impl Send for SharedCells {}
// SAFETY: as above.
#[allow(unsafe_code)]
unsafe impl Sync for SharedCells {}

impl SharedCells {
    /// So many, at least one.
    ///
    /// # Errors
    /// If the system has no memory or no descriptor for it.
    pub fn new(count: usize) -> io::Result<Self> {
        let descriptor = memfd_create("torr-cells", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?;
        ftruncate(&descriptor, (count.max(1) * CELL) as u64)?;
        // Whoever cut it would have all others die at their next look.
        fcntl_add_seals(&descriptor, SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL)?;
        Self::of(descriptor)
    }

    /// Those that another process has made, by their descriptor.
    ///
    /// # Errors
    /// If it is no file of memory, may be made shorter, or is empty.
    #[allow(unsafe_code)]
    pub fn of(descriptor: OwnedFd) -> io::Result<Self> {
        if !fcntl_get_seals(&descriptor)?.contains(SealFlags::SHRINK) {
            return Err(io::Error::other("memory that may be made shorter"));
        }
        let size = usize::try_from(fstat(&descriptor)?.st_size).unwrap_or(0) / CELL * CELL;
        let (access, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED);
        // SAFETY: the system chooses where, so that nothing else is touched. The file is sealed, so it is never
        // made shorter.
        let memory = unsafe { mmap(null_mut(), size, access, flags, &descriptor, 0) }?;
        let memory = NonNull::new(memory.cast()).ok_or_else(|| io::Error::other("memory at address 0"))?;
        Ok(Self { memory, count: size / CELL, descriptor })
    }
}

impl Deref for SharedCells {
    type Target = [AtomicU64];

    #[inline]
    #[allow(unsafe_code)]
    fn deref(&self) -> &[AtomicU64] {
        // SAFETY: so many were mapped, at a page's begin, and any bytes are numbers.
        unsafe { std::slice::from_raw_parts(self.memory.as_ptr(), self.count) }
    }
}

impl AsFd for SharedCells {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}

impl Drop for SharedCells {
    #[allow(unsafe_code)]
    fn drop(&mut self) {
        // SAFETY: it was mapped with this size, and nobody has a part of it any more. It cannot fail then.
        let _ = unsafe { munmap(self.memory.as_ptr().cast(), self.count * CELL) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::Ordering;

    #[test]
    fn what_one_adds_the_other_sees() {
        let one = SharedCells::new(1000).expect("there is memory");
        let copy = one.as_fd().try_clone_to_owned().expect("a descriptor is free");
        let other = SharedCells::of(copy).expect("it is the same");
        assert_eq!((one.len(), other.len()), (1000, 1000));
        one[999].fetch_add(7, Ordering::Relaxed);
        drop(one);
        assert_eq!((other[999].load(Ordering::Relaxed), other[0].load(Ordering::Relaxed)), (7, 0));
    }

    #[test]
    fn nothing_that_is_no_memory_is_taken() {
        let (socket, _other) = std::os::unix::net::UnixStream::pair().expect("there is room for descriptors");
        assert!(SharedCells::of(socket.into()).is_err());
        let unsealed = memfd_create("test", MemfdFlags::CLOEXEC).expect("a descriptor is free");
        ftruncate(&unsealed, 4096).expect("there is memory");
        assert!(SharedCells::of(unsealed).is_err());
    }

    #[test]
    fn nobody_makes_it_shorter() {
        let cells = SharedCells::new(1000).expect("there is memory");
        assert!(ftruncate(&cells, 8).is_err());
    }
}
