//! The statements that PostgreSQL's processes run, read from their memory: those of clients over a Unix socket pass no interface.
//!
//! Each process that serves a client has the text of its current statement at `debug_query_string`, a variable that is exported for
//! extensions. It is null while the process waits for its client.

use super::login::Observed;
use super::normalise::sql::{INPUT, statements};
use super::normalise::{Dialect, Text};
use crate::native::maps;
use crate::native::memory::Memory;
use crate::native::object_file::ObjectFile;
use crate::native::symbols::DataSymbols;
use crate::pace::{Begun, Pace};
use std::fs;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// The variable with the text of the current statement.
const CURRENT: &str = "debug_query_string";
/// The time between two rounds over all processes.
const ROUND: Duration = Duration::from_millis(20);
/// The share of a CPU that rounds may take.
const MOST: f64 = 0.02;
/// The longest time.
const LONGEST: Duration = Duration::from_secs(60);
/// The time between two looks for new processes.
const LOOK: Duration = Duration::from_millis(250);
/// The most processes that are read.
const PROCESSES: usize = 1_000;
/// What the title of a process says of a client over a Unix socket.
const LOCAL: &str = "[local]";

/// A reader of the processes of a PostgreSQL server, which runs.
#[derive(Debug)]
pub(super) struct Backends {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<Observed>,
}

impl Backends {
    /// Begins to read the processes of the server that these belong to.
    ///
    /// # Errors
    /// Those of reading another process: `EPERM` and `EACCES` without the right.
    pub(super) fn start(processes: &[i32]) -> io::Result<Self> {
        let &first = processes.first().ok_or(io::ErrorKind::NotFound)?;
        let server = server_of(first);
        let current = address_of(server)?;
        Memory::of(server).read(current, &mut [0; 8])?;
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let read = move || read(server, current, &stopped);
        let thread = thread::Builder::new().name("torr-backends".into()).spawn(read)?;
        Ok(Self { stop, thread })
    }

    /// Begins to end the reader.
    pub(super) fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Ends the reader, and returns what the processes ran.
    pub(super) fn finish(self) -> Observed {
        self.stop();
        self.thread.join().unwrap_or_default()
    }
}

/// Reads until the reader is stopped.
fn read(server: i32, current: u64, stop: &AtomicBool) -> Observed {
    let (began, pace) = (Instant::now(), Pace::new(LONGEST, stop));
    let (mut observed, mut processes) = (Observed::default(), Vec::new());
    let mut looked: Option<Instant> = None;
    while !pace.is_over() {
        let begun = Begun::now();
        if looked.is_none_or(|looked| looked.elapsed() >= LOOK) {
            processes = clients_of(server);
            looked = Some(begun.at);
        }
        let running: Vec<Text> = processes.iter().filter_map(|&process| statement(process, current)).collect();
        observed.samples += f64::from(u8::from(!running.is_empty()));
        for text in running {
            if let Some(seen) = observed.of(text) {
                seen.active += 1.0;
            }
        }
        pace.sleep_until(begun.next(ROUND, MOST));
    }
    observed.elapsed = began.elapsed();
    observed
}

/// Returns the statement that a process runs, or `None` if it runs none.
fn statement(process: i32, current: u64) -> Option<Text> {
    let memory = Memory::of(process);
    let read = || {
        let address = memory.u64(current).filter(|&address| address != 0)?;
        let mut bytes = vec![0; 1024];
        loop {
            let length = memory.read(address, &mut bytes).ok()?;
            let end = memchr::memchr(0, &bytes[..length]);
            if end.is_some() || length < bytes.len() || length > INPUT {
                bytes.truncate(end.unwrap_or(length));
                return Some((address, bytes, end.is_none()));
            }
            bytes.resize(length * 8, 0);
        }
    };
    // With the same text after as before, the process ran the statement all the while, and the text is whole.
    let (address, bytes, is_cut) = read()?;
    if read()? != (address, bytes.clone(), is_cut) {
        return None;
    }
    let mut all = statements(&bytes, Dialect::Postgres, is_cut);
    // Which of several statements of a text runs is not known.
    let only = all.pop().filter(|_| all.is_empty());
    Some(only.unwrap_or_else(Text::unseen))
}

/// Returns the process that starts those that serve clients, of which one is given, or which is given itself.
fn server_of(process: i32) -> i32 {
    let program = |process: i32| fs::read_link(format!("/proc/{process}/exe")).ok();
    let parent = parent(process).filter(|&parent| program(parent).is_some() && program(parent) == program(process));
    parent.unwrap_or(process)
}

/// Returns the parent of a process.
fn parent(process: i32) -> Option<i32> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    stat.rsplit_once(") ")?.1.split(' ').nth(1)?.parse().ok()
}

/// Returns the processes that serve a client of the server over a Unix socket.
fn clients_of(server: i32) -> Vec<i32> {
    let is_client = |process: &i32| {
        let title = fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
        memchr::memmem::find(&title, LOCAL.as_bytes()).is_some()
    };
    children(server).into_iter().filter(is_client).take(PROCESSES).collect()
}

/// Returns the children of a process.
fn children(process: i32) -> Vec<i32> {
    let numbers = |text: String| text.split_whitespace().filter_map(|number| number.parse().ok()).collect();
    if let Ok(listed) = fs::read_to_string(format!("/proc/{process}/task/{process}/children")) {
        return numbers(listed);
    }
    // A kernel without these lists.
    let all = fs::read_dir("/proc").into_iter().flatten().flatten();
    let all = all.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    all.filter(|&other| parent(other) == Some(process)).collect()
}

/// Returns the address of the variable with the current statement, which all processes of a server have in common.
fn address_of(process: i32) -> io::Result<u64> {
    let mappings = maps::of(process)?;
    let program = fs::metadata(format!("/proc/{process}/exe"))?;
    let inode = std::os::unix::fs::MetadataExt::ino(&program);
    let mappings: Vec<_> = mappings.iter().filter(|mapping| mapping.inode == inode).collect();
    let object = ObjectFile::of(process, &mappings);
    let found = object.and_then(|object| Some(DataSymbols::of(&object).variable(CURRENT)?.0.wrapping_add(object.bias)));
    found.ok_or_else(|| io::Error::other("the program does not export its current statement"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_is_no_database_is_not_read() {
        let own = std::process::id() as i32;
        assert!(Backends::start(&[own]).is_err() && Backends::start(&[]).is_err());
        assert_ne!(parent(own), None);
        assert!(clients_of(own).is_empty());
    }
}
