//! Counters of the kernel's performance events, such as the instructions that a thread executes.

use rustix::io::Errno;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{FromRawFd, OwnedFd};

/// The size of the first version of the kernel's `perf_event_attr`, which every kernel knows.
const ATTRIBUTES_SIZE: u32 = 64;
/// The bit of `read_format` by which a count has the time for which the counter was enabled.
const TOTAL_TIME_ENABLED: u64 = 1;
/// The bit of `read_format` by which a count has the time for which the counter counted.
const TOTAL_TIME_RUNNING: u64 = 2;
/// The flag by which threads and processes count that the thread starts later.
const INHERIT: u64 = 1 << 1;
/// The flag that leaves out what the kernel executes. Without it a user needs a right of an administrator.
const EXCLUDE_KERNEL: u64 = 1 << 5;
/// The flag that leaves out what the hypervisor executes.
const EXCLUDE_HYPERVISOR: u64 = 1 << 6;

/// An event that the kernel counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// Instructions that were executed in user space, by the counters of the CPU (`PERF_COUNT_HW_INSTRUCTIONS`). Many virtual machines
    /// have none.
    Instructions,
    /// Nanoseconds of CPU time, which every machine counts (`PERF_COUNT_SW_TASK_CLOCK`).
    #[cfg(test)]
    TaskClock,
}

/// A counter of an event. It counts from its creation until it is dropped.
#[derive(Debug)]
pub struct PerfCounter(File);

/// The kernel's `perf_event_attr` in its first version.
#[repr(C)]
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
}

impl PerfCounter {
    /// Counts an event of a thread, and of all threads and processes that the thread starts from now on.
    ///
    /// # Errors
    /// Those of `perf_event_open(2)`: `ENOENT` and `EOPNOTSUPP` on a machine without such a counter, `EACCES` and `EPERM` without the right
    /// to count the thread, `ESRCH` for a thread that has ended.
    #[allow(unsafe_code)]
    pub fn of_thread(thread: u32, event: Event) -> io::Result<Self> {
        let (kind, config) = match event {
            Event::Instructions => (0, 1),
            #[cfg(test)]
            Event::TaskClock => (1, 1),
        };
        let attributes = Attributes {
            kind,
            size: ATTRIBUTES_SIZE,
            config,
            sample_period: 0,
            sample_type: 0,
            read_format: TOTAL_TIME_ENABLED | TOTAL_TIME_RUNNING,
            flags: INHERIT | EXCLUDE_KERNEL | EXCLUDE_HYPERVISOR,
            wakeup_events: 0,
            breakpoint_type: 0,
            breakpoint_address: 0,
        };
        let thread = libc::pid_t::try_from(thread).map_err(|_| io::Error::from(Errno::SRCH))?;
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
        Ok(Self(descriptor.into()))
    }

    /// Returns the count so far. `None` if other counters took turns on the CPU with this one, so that a part is missing.
    ///
    /// # Errors
    /// Those of `read(2)`.
    pub fn count(&self) -> io::Result<Option<u64>> {
        let mut read = [0; 24];
        (&self.0).read_exact(&mut read)?;
        let at = |field: usize| {
            let bytes = read[field * 8..][..8].try_into().expect("a slice of eight bytes is an array of eight");
            u64::from_ne_bytes(bytes)
        };
        let (count, enabled, running) = (at(0), at(1), at(2));
        Ok((enabled == running).then_some(count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::thread::gettid;
    use std::thread;
    use std::time::{Duration, Instant};

    fn compute(time: Duration) {
        let begun = Instant::now();
        while begun.elapsed() < time {
            std::hint::black_box(begun);
        }
    }

    /// Returns the number of this thread.
    fn own() -> u32 {
        gettid().as_raw_nonzero().get() as u32
    }

    #[test]
    fn the_cpu_time_of_a_thread_and_of_those_that_it_starts_is_counted() {
        let counter = match PerfCounter::of_thread(own(), Event::TaskClock) {
            Ok(counter) => counter,
            // Containers forbid the system call to many.
            Err(error) => return eprintln!("no counter here: {error}"),
        };
        let count = || counter.count().expect("it can be read").expect("a clock needs no counter of the CPU");
        compute(Duration::from_millis(20));
        let first = count();
        assert!(first > 1_000_000, "{first} ns");
        thread::spawn(|| compute(Duration::from_millis(20))).join().expect("it only computes");
        let second = count();
        assert!(second > first + 1_000_000, "{first} ns, then {second} ns");
    }

    #[test]
    fn instructions_are_counted_where_the_cpu_has_a_counter() {
        match PerfCounter::of_thread(own(), Event::Instructions) {
            Ok(counter) => {
                compute(Duration::from_millis(5));
                let count = counter.count().expect("it can be read");
                assert!(count.is_none_or(|count| count > 10_000), "{count:?}");
            }
            Err(error) => {
                let expected = [libc::ENOENT, libc::EOPNOTSUPP, libc::EACCES, libc::EPERM, libc::ENOSYS];
                assert!(error.raw_os_error().is_some_and(|code| expected.contains(&code)), "{error}");
            }
        }
    }

    #[test]
    fn a_thread_that_does_not_exist_has_no_counter() {
        // Containers forbid the system call to many.
        if let Err(error) = PerfCounter::of_thread(own(), Event::TaskClock) {
            return eprintln!("no counter here: {error}");
        }
        // The kernel numbers threads up to 4,194,304 (proc(5), pid_max).
        let error = PerfCounter::of_thread(1 << 30, Event::TaskClock).expect_err("there is no such thread");
        assert_eq!(error.raw_os_error(), Some(libc::ESRCH), "{error}");
    }
}
