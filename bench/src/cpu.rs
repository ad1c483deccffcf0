//! CPU time of other processes: of a running tree to the nanosecond, of a child that has ended to the microsecond.

use std::fs;
use std::thread::sleep;
use std::time::Duration;

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use rustix::thread::{CpuSet, sched_setaffinity};

use torr_test_support::error::Error;

/// Puts this thread, and all that it starts from here on, on one CPU.
pub fn pin(cpu: usize) -> Result<(), Error> {
    let mut cpus = CpuSet::new();
    cpus.set(cpu);
    sched_setaffinity(None, &cpus).map_err(Error::at(format!("cannot run on CPU {cpu}")))
}

/// CPU seconds used so far by all threads of a process and of its living descendants, once they are at rest.
///
/// The scheduler accounts for a thread when it stops running, and a server still closes connections after its load is
/// gone: so this waits until two readings 10 ms apart agree, but at most half a second.
pub fn at_rest(pid: u32) -> f64 {
    let mut used = tree(pid);
    for _ in 0..50 {
        sleep(Duration::from_millis(10));
        let now = tree(pid);
        if now == used {
            break;
        }
        used = now;
    }
    used as f64 / 1e9
}

/// Returns the CPU seconds used so far by a process and its living descendants, without waiting until they are at rest: a
/// database has tasks of its own, and never is.
pub fn used(pid: u32) -> f64 {
    tree(pid) as f64 / 1e9
}

/// CPU nanoseconds of a process tree. A process that is gone counts as nothing.
fn tree(pid: u32) -> u64 {
    let Ok(threads) = fs::read_dir(format!("/proc/{pid}/task")) else { return 0 };
    let mut used = 0;
    for thread in threads.flatten() {
        let read = |file| fs::read_to_string(thread.path().join(file)).unwrap_or_default();
        used += read("schedstat").split_whitespace().next().and_then(|ns| ns.parse().ok()).unwrap_or(0);
        used += read("children").split_whitespace().filter_map(|child| child.parse().ok()).map(tree).sum::<u64>();
    }
    used
}

/// CPU seconds of all children reaped so far. The difference around one reaping is that child's, including the threads
/// that ended before it, which `/proc` does not show.
pub fn reaped() -> f64 {
    let used = getrusage(UsageWho::RUSAGE_CHILDREN).expect("getrusage of one's own children cannot fail");
    (used.user_time().num_microseconds() + used.system_time().num_microseconds()) as f64 / 1e6
}
