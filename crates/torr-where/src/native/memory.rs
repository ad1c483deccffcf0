//! The memory of another process, read without stopping it (`process_vm_readv`).

use nix::sys::uio::{RemoteIoVec, process_vm_readv};
use nix::unistd::Pid;
use std::io::{self, IoSliceMut};

/// The memory of a process.
#[derive(Debug, Clone, Copy)]
pub struct Memory(i32);

impl Memory {
    /// Returns the memory of a process. Nothing is read yet.
    pub fn of(process: i32) -> Self {
        Self(process)
    }

    /// Reads the bytes from an address on, and returns how many were readable: fewer than requested where a mapping ends.
    ///
    /// # Errors
    /// Those of `process_vm_readv(2)`: `EPERM` without the right, `ESRCH` of a process that has ended, `EFAULT` where nothing is mapped.
    pub fn read(self, address: u64, into: &mut [u8]) -> io::Result<usize> {
        // The call reads no more than a page's end at a time where the next page is missing, if each page is a slice of its own.
        const PAGE: usize = 4096;
        const SLICES: usize = 64;
        let mut done = 0;
        while done < into.len() {
            let mut remote = Vec::with_capacity(SLICES);
            let (mut at, mut length) = (address.wrapping_add(done as u64) as usize, 0);
            while done + length < into.len() && remote.len() < SLICES {
                let len = (PAGE - at % PAGE).min(into.len() - done - length);
                remote.push(RemoteIoVec { base: at, len });
                (at, length) = (at.wrapping_add(len), length + len);
            }
            let mut local = [IoSliceMut::new(&mut into[done..done + length])];
            match process_vm_readv(Pid::from_raw(self.0), &mut local, &remote) {
                Ok(read) => {
                    done += read;
                    if read < length {
                        break;
                    }
                }
                Err(_) if done > 0 => break,
                Err(error) => return Err(error.into()),
            }
        }
        Ok(done)
    }

    /// Fills the bytes from an address on, or returns `None` if one of them is not readable.
    pub fn fill(self, address: u64, into: &mut [u8]) -> Option<()> {
        (self.read(address, into).ok()? == into.len()).then_some(())
    }

    /// Reads a number of 64 bits.
    pub fn u64(self, address: u64) -> Option<u64> {
        let mut bytes = [0; 8];
        self.fill(address, &mut bytes)?;
        Some(u64::from_ne_bytes(bytes))
    }

    /// Reads a number of 32 bits.
    pub fn u32(self, address: u64) -> Option<u32> {
        let mut bytes = [0; 4];
        self.fill(address, &mut bytes)?;
        Some(u32::from_ne_bytes(bytes))
    }

    /// Reads as many bytes as are readable, up to a length.
    pub fn bytes(self, address: u64, length: usize) -> Vec<u8> {
        let mut bytes = vec![0; length];
        let read = self.read(address, &mut bytes).unwrap_or(0);
        bytes.truncate(read);
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_read_as_far_as_it_is_mapped() {
        let own = Memory::of(std::process::id() as i32);
        let there: Vec<u8> = (0..10_000_u32).map(|n| n as u8).collect();
        assert_eq!(own.bytes(there.as_ptr() as u64, there.len()), there);
        assert_eq!(own.u64(8), None);
        assert_eq!(own.u32(there.as_ptr() as u64), Some(u32::from_ne_bytes([0, 1, 2, 3])));
        assert!(own.read(8, &mut [0; 8]).is_err());
    }
}
