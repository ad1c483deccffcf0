//! The properties of one process or thread that `/proc` shows at a moment.

use crate::printable::printable;
use rustix::process::Pid;
use rustix::thread::{CpuSet, sched_getaffinity};
use std::fs::{File, metadata, read_dir};
use std::io::Read;

/// The fields of a process's or thread's `stat`.
#[derive(Debug, Clone)]
pub(super) struct Stat {
    pub name: String,
    /// `R` if it is running or ready to run.
    pub state: u8,
    /// User and system time in microseconds; of a process, also that of threads that have ended.
    pub cpu_us: u64,
    /// In ticks since the machine started.
    pub started: u64,
}

/// Reads a file of `/proc`, such as `17/stat` or `17/task/18/stat`. `None` if the process is gone or may not be seen.
fn read<const SIZE: usize>(path: &str) -> Option<String> {
    let mut text = [0; SIZE];
    let length = File::open(format!("/proc/{path}")).ok()?.read(&mut text).ok()?;
    Some(String::from_utf8_lossy(&text[..length]).into_owned())
}

pub(super) fn stat(path: &str) -> Option<Stat> {
    let text = read::<1024>(&format!("{path}/stat"))?;
    // The name, which stands in parentheses, may have anything in it.
    let (before, after) = (text.find('(')?, text.rfind(')')?);
    let fields: Vec<_> = text.get(after + 1..)?.split_ascii_whitespace().collect();
    let number = |field: usize| fields.get(field)?.parse::<u64>().ok();
    Some(Stat {
        name: printable(text.get(before + 1..after)?).into_owned(),
        state: *fields.first()?.as_bytes().first()?,
        cpu_us: (number(11)? + number(12)?) * 1_000_000 / procfs::ticks_per_second(),
        started: number(19)?,
    })
}

/// CPU time, and time for which it was ready without a CPU, in nanoseconds.
pub(super) fn scheduled(path: &str) -> Option<(u64, u64)> {
    let text = read::<96>(&format!("{path}/schedstat"))?;
    let mut numbers = text.split_ascii_whitespace().map_while(|number| number.parse().ok());
    Some((numbers.next()?, numbers.next()?))
}

/// Returns the number of voluntary context switches.
pub(super) fn waits(path: &str) -> Option<u64> {
    let text = read::<4096>(&format!("{path}/status"))?;
    text.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:")?.trim().parse().ok())
}

/// The state of a thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Doing {
    /// The thread runs, or is ready to run.
    Running,
    /// The thread waits in the kernel function of this name, if the name is readable.
    Waiting(Option<String>),
}

pub(super) fn doing(path: &str) -> Option<Doing> {
    // The name of what it waits for is the quicker one to get. It is "0" if it runs or if this may not be known.
    match read::<96>(&format!("{path}/wchan")).filter(|name| !name.is_empty() && name != "0") {
        Some(name) => Some(Doing::Waiting(Some(name))),
        None => match stat(path)?.state {
            b'R' => Some(Doing::Running),
            // The state of a stopped thread is visible even where the kernel function is not.
            b'T' => Some(Doing::Waiting(Some("do_signal_stop".into()))),
            b't' => Some(Doing::Waiting(Some("ptrace_stop".into()))),
            _ => Some(Doing::Waiting(None)),
        },
    }
}

/// Returns the number of CPUs that any of these threads may run on.
pub(super) fn allowed_cores(tids: impl Iterator<Item = i32>) -> Option<usize> {
    let mut sets: Vec<CpuSet> = vec![];
    for tid in tids {
        let set = Pid::from_raw(tid).and_then(|tid| sched_getaffinity(Some(tid)).ok());
        sets.extend(set.filter(|set| !sets.contains(set)));
    }
    let allowed = |cpu: &usize| sets.iter().any(|set| set.is_set(*cpu));
    Some((0..CpuSet::MAX_CPU).filter(allowed).count()).filter(|&cores| cores > 0)
}

/// Returns the number of open files of a process.
pub(super) fn open_files(pid: i32) -> Option<u64> {
    let path = format!("/proc/{pid}/fd");
    // The directory's size is their number from Linux 6.2 on.
    let size = metadata(&path).ok()?.len();
    if size > 0 { Some(size) } else { Some(read_dir(&path).ok()?.count() as u64) }
}

/// Returns the limit of open files of a process.
pub(super) fn file_limit(pid: i32) -> Option<u64> {
    let text = read::<4096>(&format!("{pid}/limits"))?;
    let line = text.lines().find_map(|line| line.strip_prefix("Max open files"))?;
    line.split_ascii_whitespace().next()?.parse().ok()
}
