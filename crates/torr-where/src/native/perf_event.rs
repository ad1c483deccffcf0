//! Samples of a thread's stack while it computes: the kernel's performance event of the CPU clock (`perf_event_open`).

use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use std::ffi::c_void;
use std::io;
use std::num::NonZeroU32;
use std::os::fd::{FromRawFd, OwnedFd};
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};

/// The size of a page of the ring. The kernel's page is a multiple of it on other machines than x86-64, where no stacks are sampled.
const PAGE: usize = 4096;
/// The type of events that the kernel counts itself (`PERF_TYPE_SOFTWARE`).
const SOFTWARE: u32 = 1;
/// The event of the CPU's time (`PERF_COUNT_SW_CPU_CLOCK`).
const CPU_CLOCK: u64 = 0;
/// What a sample has: the thread, the time, registers and a copy of the stack.
const SAMPLE: u64 = 1 << 1 | 1 << 2 | 1 << 12 | 1 << 13;
/// The registers `rbp`, `rsp` and `rip`, in the kernel's numbers.
const REGISTERS: u64 = 1 << 6 | 1 << 7 | 1 << 8;
/// The flag that leaves out what the kernel executes, which needs no right.
const EXCLUDE_KERNEL: u64 = 1 << 5;
/// The flag that leaves out what the hypervisor executes.
const EXCLUDE_HYPERVISOR: u64 = 1 << 6;
/// The flag by which times are those of a clock of our choice.
const USE_CLOCK: u64 = 1 << 25;
/// The type of records that are samples.
const RECORD_SAMPLE: u32 = 9;
/// The type of records that say how many were lost.
const RECORD_LOST: u32 = 2;
/// The offsets of the ring's ends in its first page.
const HEAD: usize = 1024;
const TAIL: usize = 1032;

/// The kernel's `perf_event_attr` in its third version.
#[repr(C)]
#[derive(Default)]
struct Attributes {
    kind: u32,
    size: u32,
    config: u64,
    sample_period: u64,
    sample_type: u64,
    read_format: u64,
    flags: u64,
    wakeup_events: u32,
    breakpoint_type: u32,
    breakpoint_address: u64,
    breakpoint_length: u64,
    branch_sample_type: u64,
    registers: u64,
    stack: u32,
    clock: i32,
}

/// How threads are sampled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sampling {
    /// Samples per second of CPU time.
    pub rate: NonZeroU32,
    /// The bytes of the stack that a sample copies, a multiple of 8 and below 64 KiB.
    pub stack: u32,
    /// The size of the ring in pages, a power of two.
    pub pages: usize,
    /// Whether time in the kernel is sampled too. It needs a right.
    pub with_kernel: bool,
}

/// A sample of a thread that computes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CpuSample {
    /// The thread.
    pub thread: i32,
    /// The time on the monotonic clock, in nanoseconds.
    pub time: u64,
    /// The registers `rbp`, `rsp` and `rip` of the program, or `None` if the kernel has none.
    pub registers: Option<[u64; 3]>,
    /// The stack's bytes from `rsp` on.
    pub stack: Vec<u8>,
}

/// An event of a thread, with the ring into which the kernel writes samples.
#[derive(Debug)]
pub struct ThreadEvent {
    ring: *mut c_void,
    pages: usize,
    lost: u64,
    _descriptor: OwnedFd,
}

// SAFETY: the mapping belongs to the event alone, and `&mut self` guards each access of its data.
unsafe impl Send for ThreadEvent {}

impl ThreadEvent {
    /// Samples a thread from now on until the event is dropped.
    ///
    /// # Errors
    /// Those of `perf_event_open(2)` and `mmap(2)`: `EACCES` and `EPERM` without the right, also where the memory for rings is used up;
    /// `ESRCH` for a thread that has ended.
    pub fn of(thread: i32, sampling: Sampling) -> io::Result<Self> {
        let attributes = Attributes {
            kind: SOFTWARE,
            size: size_of::<Attributes>() as u32,
            config: CPU_CLOCK,
            sample_period: 1_000_000_000 / u64::from(sampling.rate.get()),
            sample_type: SAMPLE,
            flags: EXCLUDE_HYPERVISOR | USE_CLOCK | if sampling.with_kernel { 0 } else { EXCLUDE_KERNEL },
            registers: REGISTERS,
            stack: sampling.stack,
            clock: libc::CLOCK_MONOTONIC,
            ..Attributes::default()
        };
        const ANY_CPU: libc::c_int = -1;
        const NO_GROUP: libc::c_int = -1;
        const CLOSE_ON_EXEC: libc::c_ulong = 8;
        // SAFETY: the kernel reads the attributes, whose size they have themselves, during the call only.
        let number = unsafe {
            libc::syscall(libc::SYS_perf_event_open, &raw const attributes, thread, ANY_CPU, NO_GROUP, CLOSE_ON_EXEC)
        };
        if number < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the call has just opened the descriptor for this process, and nothing else knows its number.
        let descriptor = unsafe { OwnedFd::from_raw_fd(number as i32) };
        let length = (sampling.pages + 1) * PAGE;
        // SAFETY: the kernel chooses addresses that nothing else uses.
        let ring = unsafe {
            mmap(ptr::null_mut(), length, ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED, &descriptor, 0)
        }?;
        Ok(Self { ring, pages: sampling.pages, lost: 0, _descriptor: descriptor })
    }

    /// Returns how many samples were lost because the ring was full.
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// Takes the samples that the kernel has written since the last call.
    pub fn take(&mut self, mut with: impl FnMut(CpuSample)) {
        // SAFETY: both numbers are in the mapping's first page, aligned, and shared with the kernel as atomic numbers.
        let (head, tail) = unsafe {
            (
                &*self.ring.cast::<u8>().add(HEAD).cast::<AtomicU64>(),
                &*self.ring.cast::<u8>().add(TAIL).cast::<AtomicU64>(),
            )
        };
        let end = head.load(Ordering::Acquire);
        let mut at = tail.load(Ordering::Relaxed);
        while end.wrapping_sub(at) >= 8 {
            let header = self.bytes(at, 8);
            let kind = u32::from_ne_bytes(header[..4].try_into().expect("four bytes are an array of four"));
            let size = usize::from(u16::from_ne_bytes(header[6..].try_into().expect("two bytes are an array of two")));
            if size < 8 || size as u64 > end.wrapping_sub(at) {
                at = end;
                break;
            }
            let record = self.bytes(at.wrapping_add(8), size - 8);
            match kind {
                RECORD_SAMPLE => {
                    if let Some(sample) = sample(&record) {
                        with(sample);
                    }
                }
                RECORD_LOST => self.lost += record.get(8..16).map_or(0, number),
                _ => {}
            }
            at = at.wrapping_add(size as u64);
        }
        tail.store(at, Ordering::Release);
    }

    /// Copies bytes of the ring, which begin at a position that only grows.
    fn bytes(&self, position: u64, length: usize) -> Vec<u8> {
        let size = self.pages * PAGE;
        let length = length.min(size);
        let begin = (position % size as u64) as usize;
        let first = length.min(size - begin);
        let mut bytes = vec![0; length];
        // SAFETY: the ring's data begins after the first page and has `size` bytes; the kernel does not write what was not taken yet.
        unsafe {
            let data = self.ring.cast::<u8>().add(PAGE);
            ptr::copy_nonoverlapping(data.add(begin), bytes.as_mut_ptr(), first);
            ptr::copy_nonoverlapping(data, bytes.as_mut_ptr().add(first), length - first);
        }
        bytes
    }
}

impl Drop for ThreadEvent {
    fn drop(&mut self) {
        // SAFETY: the mapping is the event's own, and nothing refers to it any more.
        let _ = unsafe { munmap(self.ring, (self.pages + 1) * PAGE) };
    }
}

/// Returns the number in eight bytes.
fn number(bytes: &[u8]) -> u64 {
    bytes.try_into().map_or(0, u64::from_ne_bytes)
}

/// Parses a sample: thread, time, registers, stack.
fn sample(record: &[u8]) -> Option<CpuSample> {
    let thread = u32::from_ne_bytes(record.get(4..8)?.try_into().ok()?) as i32;
    let time = number(record.get(8..16)?);
    let has_registers = number(record.get(16..24)?) != 0;
    let mut at = 24;
    let mut registers = None;
    if has_registers {
        let mut three = [0; 3];
        for register in &mut three {
            *register = number(record.get(at..at + 8)?);
            at += 8;
        }
        registers = Some(three);
    }
    let size = number(record.get(at..at + 8)?) as usize;
    at += 8;
    let mut stack = Vec::new();
    if size > 0 {
        let copied = record.get(at..at.checked_add(size)?)?;
        let length = number(record.get(at + size..at + size + 8)?) as usize;
        stack = copied.get(..length)?.to_vec();
    }
    Some(CpuSample { thread, time, registers, stack })
}
