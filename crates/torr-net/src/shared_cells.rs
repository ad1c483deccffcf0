//! Counters in memory that processes share, inherited as a descriptor.

use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, fcntl_get_seals, fstat, ftruncate, memfd_create};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use std::io;
use std::ops::Deref;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::ptr::{NonNull, null_mut};
use std::sync::atomic::AtomicU64;

/// The size of a cell in bytes.
const CELL: usize = size_of::<AtomicU64>();

/// A row of atomic numbers, initially 0, in memory that lives as long as any process holds its descriptor.
#[derive(Debug)]
pub struct SharedCells {
    memory: NonNull<AtomicU64>,
    count: usize,
    descriptor: OwnedFd,
}

// SAFETY: the memory belongs to this value until it is dropped, and holds atomic numbers only.
#[allow(unsafe_code)]
unsafe impl Send for SharedCells {}
// SAFETY: as above.
#[allow(unsafe_code)]
unsafe impl Sync for SharedCells {}

impl SharedCells {
    /// Creates `count` cells, at least one.
    ///
    /// # Errors
    /// If the system has no memory or no descriptor left.
    pub fn new(count: usize) -> io::Result<Self> {
        let descriptor = memfd_create("torr-cells", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?;
        ftruncate(&descriptor, (count.max(1) * CELL) as u64)?;
        // If one process shrank the memory, the next access of every other would raise SIGBUS.
        fcntl_add_seals(&descriptor, SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL)?;
        Self::of(descriptor)
    }

    /// Maps the cells that another process has created.
    ///
    /// # Errors
    /// If the descriptor is no memory file, can be shrunk, or is empty.
    #[allow(unsafe_code)]
    pub fn of(descriptor: OwnedFd) -> io::Result<Self> {
        if !fcntl_get_seals(&descriptor)?.contains(SealFlags::SHRINK) {
            return Err(io::Error::other("memory that can be shrunk"));
        }
        let size = usize::try_from(fstat(&descriptor)?.st_size).unwrap_or(0) / CELL * CELL;
        let (access, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED);
        // SAFETY: the kernel chooses the address, so no other mapping is affected. The file is sealed and so never shrinks.
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
        // SAFETY: `count` cells are mapped, aligned to a page, and any bytes are valid numbers.
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
        // SAFETY: the memory was mapped with this size and is not borrowed any more. The call cannot fail then.
        let _ = unsafe { munmap(self.memory.as_ptr().cast(), self.count * CELL) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::Ordering;

    #[test]
    fn cells_are_shared_through_their_descriptor() {
        let one = SharedCells::new(1000).expect("there is memory");
        let copy = one.as_fd().try_clone_to_owned().expect("a descriptor is free");
        let other = SharedCells::of(copy).expect("it is the same");
        assert_eq!((one.len(), other.len()), (1000, 1000));
        one[999].fetch_add(7, Ordering::Relaxed);
        drop(one);
        assert_eq!((other[999].load(Ordering::Relaxed), other[0].load(Ordering::Relaxed)), (7, 0));
    }

    #[test]
    fn descriptors_of_no_sealed_memory_are_rejected() {
        let (socket, _other) = std::os::unix::net::UnixStream::pair().expect("there is room for descriptors");
        assert!(SharedCells::of(socket.into()).is_err());
        let unsealed = memfd_create("test", MemfdFlags::CLOEXEC).expect("a descriptor is free");
        ftruncate(&unsealed, 4096).expect("there is memory");
        assert!(SharedCells::of(unsealed).is_err());
    }

    #[test]
    fn the_memory_cannot_be_shrunk() {
        let cells = SharedCells::new(1000).expect("there is memory");
        assert!(ftruncate(&cells, 8).is_err());
    }
}
