//! Node.js, by its inspector: SIGUSR1 opens it on the loopback interface, a CPU profile is made, and it is closed again.

mod inspector;
mod listeners;
mod profile;

use super::process;
use super::reading::Reading;
use crate::pace::Pace;
use crate::unseen::{Remedy, Runtime, Unseen, UnseenReason};
use inspector::Inspector;
use profile::Profile;
use rustix::process::{Pid, Signal, kill_process};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use serde_json::json;
use std::fs::{self, File};
use std::io;
use std::os::fd::AsFd;
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// The time between two samples, in microseconds.
const INTERVAL_US: u32 = 5025;
/// The inspector's port unless the program's options say otherwise.
const PORT: u16 = 9229;
/// How long node may take to open its inspector.
const LONGEST: Duration = Duration::from_secs(5);
/// The time between two looks for the inspector.
const LOOK: Duration = Duration::from_millis(20);
/// The share of time without work from which on tasks that wait are what was not seen.
const IDLE: f64 = 0.5;
/// All processes open their inspectors at one port, so that one is profiled at a time.
static ONE: Mutex<()> = Mutex::new(());

/// A process of node whose inspector is open.
pub struct Node {
    process: i32,
    inspector: Inspector,
    /// The right to profile a process.
    _one: MutexGuard<'static, ()>,
}

/// Opens the inspector of a process. `None` if another process is profiled.
pub fn open(process: i32) -> Result<Option<Node>, Unseen> {
    let Ok(one) = ONE.try_lock() else { return Ok(None) };
    let opened = in_its_network(process, || {
        let mut inspector = open_inspector(process)?;
        inspector.command("Profiler.enable", json!({}))?;
        inspector.command("Profiler.setSamplingInterval", json!({ "interval": INTERVAL_US }))?;
        Ok(inspector)
    });
    let inspector = opened.map_err(|error| failure(process, &error))?;
    Ok(Some(Node { process, inspector, _one: one }))
}

impl Node {
    /// Samples the process for a while, or until `stop` is set.
    pub fn sample_for(mut self, time: Duration, stop: &AtomicBool) -> Result<Reading, Unseen> {
        let process = self.process;
        let before = process::cpu_time(process, Some(process));
        let profile = self.profile(time, stop).map_err(|error| failure(process, &error))?;
        let mut reading = profile.reading(process);
        let after = process::cpu_time(process, Some(process));
        reading.used.extend(before.zip(after).map(|(before, after)| (process as u64, after.saturating_sub(before))));
        let idle = reading.rounds.iter().flatten().filter(|sample| !sample.on_cpu).count();
        reading.unseen = (idle as f64 > IDLE * reading.rounds.len() as f64)
            .then(|| process::unseen(process, Runtime::Node, UnseenReason::Tasks));
        Ok(reading)
    }

    /// Makes a CPU profile.
    fn profile(&mut self, time: Duration, stop: &AtomicBool) -> io::Result<Profile> {
        self.inspector.command("Profiler.start", json!({}))?;
        Pace::new(time, stop).sleep_until(Instant::now() + time);
        let mut result = self.inspector.command("Profiler.stop", json!({}))?;
        Ok(serde_json::from_value(result["profile"].take())?)
    }
}

/// Returns why there is no profile.
fn failure(process: i32, error: &io::Error) -> Unseen {
    let unseen = process::unseen(process, Runtime::Node, UnseenReason::Failed(format!("node's inspector: {error}")));
    let remedies = match error.kind() {
        io::ErrorKind::PermissionDenied => vec![Remedy::SameUser],
        io::ErrorKind::AddrNotAvailable => vec![Remedy::RuntimeOption("--inspect-port=0".into())],
        _ => vec![],
    };
    Unseen { remedies, ..unseen }
}

/// Does something in the network namespace of a process, in which its loopback interface is.
fn in_its_network<T: Send>(process: i32, act: impl FnOnce() -> io::Result<T> + Send) -> io::Result<T> {
    let path = format!("/proc/{process}/ns/net");
    if fs::read_link(&path).ok() == fs::read_link("/proc/self/ns/net").ok() {
        return act();
    }
    let enter = move || {
        move_into_link_name_space(File::open(path)?.as_fd(), Some(LinkNameSpaceType::Network))?;
        act()
    };
    // A thread of its own, which ends there.
    std::thread::scope(|scope| scope.spawn(enter).join())
        .unwrap_or_else(|_| Err(io::Error::other("a thread ended too early")))
}

/// Opens the inspector of a process, or uses the one that is open.
fn open_inspector(process: i32) -> io::Result<Inspector> {
    let before = listeners::ports(process);
    if let Some(port) = option(&process::arguments(process)).or(Some(PORT)).filter(|port| before.contains(port)) {
        return Inspector::connect(port);
    }
    // Without a handler the signal would end the process.
    if !process::handles(process, Signal::USR1.as_raw()) {
        return Err(io::Error::other("the process does not handle SIGUSR1"));
    }
    kill_process(Pid::from_raw(process).ok_or(io::ErrorKind::NotFound)?, Signal::USR1)?;
    let deadline = Instant::now() + LONGEST;
    loop {
        if let Some(port) = listeners::ports(process).difference(&before).next() {
            let mut inspector = Inspector::connect(*port)?;
            inspector.closes = true;
            return Ok(inspector);
        }
        if Instant::now() >= deadline {
            let message = "it did not open: another process may have its port";
            return Err(io::Error::new(io::ErrorKind::AddrNotAvailable, message));
        }
        std::thread::sleep(LOOK);
    }
}

/// Returns the inspector's port of a program's arguments: `--inspect=127.0.0.1:9230`, `--inspect-port=9230`.
fn option(arguments: &[String]) -> Option<u16> {
    let value = arguments.iter().find_map(|argument| {
        let (name, value) = argument.split_once('=')?;
        ["--inspect", "--inspect-brk", "--inspect-wait", "--inspect-port", "--debug-port"]
            .contains(&name)
            .then_some(value)
    });
    value?.rsplit(':').next()?.parse().ok().filter(|port| *port > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_port_is_an_option() {
        let port = |arguments: &str| option(&arguments.split(' ').map(str::to_owned).collect::<Vec<_>>());
        assert_eq!(port("node --inspect=0.0.0.0:9230 app.js"), Some(9230));
        assert_eq!(port("node --inspect-port=9231 app.js"), Some(9231));
        assert_eq!(
            (port("node --inspect app.js"), port("node --inspect-port=0 app.js"), port("node")),
            (None, None, None)
        );
    }

    #[test]
    fn a_process_that_is_no_node_is_not_signalled() {
        // This process handles no SIGUSR1: the signal would end it.
        assert!(open_inspector(std::process::id() as i32).is_err());
    }
}
