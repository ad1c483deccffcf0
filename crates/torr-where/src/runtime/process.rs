//! What `/proc` has of a process of a runtime: numbers within its PID namespace, signals that it handles, memory, rights.

use crate::unseen::{Remedy, Runtime, Unseen, UnseenReason};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::PathBuf;
use std::time::Duration;

/// The settings with which FPM logs the stacks of slow requests.
const SLOW_LOG: &str = "slowlog=FILE and request_slowlog_timeout=1s in its pool, which log the stacks of slow requests";

/// Returns the fields of a `status` file of `/proc`.
fn field<'a>(status: &'a str, name: &str) -> Option<&'a str> {
    status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')).map(str::trim)
}

/// Returns the number that a process or thread has in its own PID namespace.
fn inner_number(status: &str) -> Option<i32> {
    field(status, "NSpid")?.split_whitespace().next_back()?.parse().ok()
}

/// Returns the process's name as the kernel has it, or an empty text.
pub fn name(process: i32) -> String {
    fs::read_to_string(format!("/proc/{process}/comm")).unwrap_or_default().trim_end().to_owned()
}

/// Returns the process's number in its own PID namespace.
pub fn own_number(process: i32) -> Option<i32> {
    inner_number(&fs::read_to_string(format!("/proc/{process}/status")).ok()?)
}

/// Returns the process's user and group (the effective ones).
pub fn owner(process: i32) -> Option<(u32, u32)> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let effective = |name| field(&status, name)?.split_whitespace().nth(1)?.parse().ok();
    Some((effective("Uid")?, effective("Gid")?))
}

/// Returns whether the process has a handler for a signal. A signal without one would end the process.
pub fn handles(process: i32, signal: i32) -> bool {
    let caught = || {
        let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
        u64::from_str_radix(field(&status, "SigCgt")?, 16).ok()
    };
    (1..=64).contains(&signal) && caught().is_some_and(|caught| caught >> (signal - 1) & 1 == 1)
}

/// Returns a path of the process's own mount namespace as this process reaches it.
pub fn path(process: i32, within: &str) -> PathBuf {
    PathBuf::from(format!("/proc/{process}/root{within}"))
}

/// Returns the process's arguments.
pub fn arguments(process: i32) -> Vec<String> {
    let bytes = fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
    let arguments = bytes.split(|byte| *byte == 0).map(|argument| String::from_utf8_lossy(argument).into_owned());
    let mut arguments: Vec<_> = arguments.collect();
    arguments.pop_if(|last| last.is_empty());
    arguments
}

/// Returns the user and the system time that a process took so far, or one thread of it.
pub fn cpu_times(process: i32, thread: Option<i32>) -> Option<(Duration, Duration)> {
    let path = match thread {
        Some(thread) => format!("/proc/{process}/task/{thread}/stat"),
        None => format!("/proc/{process}/stat"),
    };
    times(&fs::read_to_string(path).ok()?)
}

/// Returns the user and the system time in a `stat` file of `/proc`.
fn times(stat: &str) -> Option<(Duration, Duration)> {
    // The name of the command is in brackets and may have brackets and blanks itself.
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
    let a_second = rustix::param::clock_ticks_per_second().max(1) as f64;
    let mut time = || Some(Duration::from_secs_f64(fields.next()?.parse::<u64>().ok()? as f64 / a_second));
    Some((time()?, time()?))
}

/// Returns the CPU time that a process took so far, or one thread of it.
pub fn cpu_time(process: i32, thread: Option<i32>) -> Option<Duration> {
    cpu_times(process, thread).map(|(user, system)| user + system)
}

/// The threads of a process: the number that each has in the process's own PID namespace, and the number that it has here.
pub fn threads(process: i32) -> BTreeMap<i32, i32> {
    let Ok(tasks) = fs::read_dir(format!("/proc/{process}/task")) else { return BTreeMap::new() };
    let numbers = tasks.filter_map(|task| task.ok()?.file_name().to_str()?.parse::<i32>().ok());
    let inner = |here: i32| {
        let status = fs::read_to_string(format!("/proc/{process}/task/{here}/status")).ok()?;
        Some((inner_number(&status).unwrap_or(here), here))
    };
    numbers.filter_map(inner).collect()
}

/// Checks that the memory of a process may be read.
///
/// # Errors
/// Those of `open(2)`: without the right to trace the process the kernel denies it.
pub fn check_memory(process: i32) -> io::Result<()> {
    File::open(format!("/proc/{process}/mem")).map(drop)
}

/// Returns that a process is not visible, with the remedies for the reason.
pub fn unseen(process: i32, runtime: Runtime, why: UnseenReason) -> Unseen {
    let remedies = match &why {
        UnseenReason::Memory => memory_remedies(process),
        UnseenReason::NeedsRequest => vec![Remedy::Ask],
        UnseenReason::NoReader if runtime == Runtime::Php && name(process).contains("fpm") => {
            vec![Remedy::RuntimeOption(SLOW_LOG.to_owned())]
        }
        _ => vec![],
    };
    Unseen { process, name: name(process), runtime, why, remedies }
}

/// Returns what gives the right to read a process's memory.
fn memory_remedies(process: i32) -> Vec<Remedy> {
    let mut remedies = vec![];
    let own = owner(std::process::id() as i32).map(|(user, _)| user);
    if owner(process).map(|(user, _)| user) != own {
        remedies.push(Remedy::SameUser);
    }
    let scope =
        fs::read_to_string("/proc/sys/kernel/yama/ptrace_scope").ok().and_then(|text| text.trim().parse::<u32>().ok());
    // At 3 no sysctl and no capability helps until the machine restarts.
    if matches!(scope, Some(1)) && remedies.is_empty() {
        remedies.push(Remedy::Sysctl { name: "kernel.yama.ptrace_scope".into(), value: 0 });
    }
    remedies.push(Remedy::Capability("CAP_SYS_PTRACE".into()));
    remedies
}

/// Returns why a process could not be read, of the system's error.
pub fn reason(process: i32, error: &io::Error) -> UnseenReason {
    match error.kind() {
        io::ErrorKind::PermissionDenied => UnseenReason::Memory,
        io::ErrorKind::NotFound if !PathBuf::from(format!("/proc/{process}")).exists() => UnseenReason::Ended,
        _ => UnseenReason::Failed(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_known_by_its_status() {
        let own = std::process::id() as i32;
        assert_eq!(inner_number("Name:\tx\nNSpid:\t4711\t12\t1\nSigCgt:\t0000000000000204"), Some(1));
        let number = own_number(own).expect("this process has a number");
        assert!(threads(own).contains_key(&number));
        assert!(cpu_time(own, None).is_some() && cpu_time(own, Some(own)).is_some());
        assert!(!arguments(own).is_empty());
    }

    #[test]
    fn times_of_many_cpus_for_weeks_are_read() {
        // 64 CPUs for ten days.
        let ticks = 64 * 10 * 86_400 * rustix::param::clock_ticks_per_second();
        let stat = format!("7 (a) b) S 1 7 7 0 -1 0 0 0 0 0 {ticks} 0 0 0 20 0");
        assert_eq!(times(&stat), Some((Duration::from_secs(64 * 10 * 86_400), Duration::ZERO)));
    }

    #[test]
    fn signals_with_handlers_are_known() {
        let own = std::process::id() as i32;
        // Rust's runtime handles SIGSEGV to report stacks that overflow, and no program can handle SIGKILL.
        assert!(handles(own, libc::SIGSEGV) && !handles(own, libc::SIGKILL) && !handles(own, 0));
    }
}
