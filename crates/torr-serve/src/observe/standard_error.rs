//! Standard error, to which lines are written without waiting for its reader.
//!
//! A pipe or a terminal whose reader stands still blocks its writers. A supervisor that waited there would neither stop on a signal
//! nor replace a worker, and a worker would not serve. Lines that standard error does not take at once are sent by a thread that
//! waits instead, in their order. Beyond a bound, lines are dropped and counted.

use super::output::{Output, count};
use rustix::event::{PollFd, PollFlags, poll};
use std::io::{self, ErrorKind, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use std::thread;

/// The number of bytes that wait at most.
const MOST_WAITING: usize = 64 * 1024;

/// A writer to the process's standard error that never blocks, for the program's log: each write is one line or several. A failure to
/// write is no error, since a server goes on without its log.
///
/// ```
/// tracing_subscriber::fmt().with_writer(|| torr_serve::StandardError).init();
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct StandardError;

impl Write for StandardError {
    fn write(&mut self, lines: &[u8]) -> io::Result<usize> {
        static SHARED: LazyLock<Option<Arc<Lines>>> = LazyLock::new(|| Lines::to(io::stderr()).ok());
        SHARED.iter().for_each(|shared| shared.write(lines));
        Ok(lines.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[derive(Debug)]
struct Lines {
    state: Mutex<State>,
    /// The descriptor that the thread waits for.
    room: OwnedFd,
}

#[derive(Debug)]
struct State {
    output: Output,
    waiting: Vec<u8>,
    /// The number of lines that were dropped since the last report.
    dropped: u64,
    /// Whether a thread sends what waits.
    is_sent: bool,
}

impl Lines {
    fn to(descriptor: impl AsFd) -> io::Result<Arc<Self>> {
        let room = descriptor.as_fd().try_clone_to_owned()?;
        let state = State { output: Output::shared(descriptor)?, waiting: Vec::new(), dropped: 0, is_sent: false };
        Ok(Arc::new(Self { state: Mutex::new(state), room }))
    }

    fn write(self: &Arc<Self>, lines: &[u8]) {
        let mut state = self.lock();
        if !state.waiting.is_empty() && state.waiting.len() + lines.len() > MOST_WAITING {
            state.dropped += count(lines);
        } else {
            state.waiting.extend_from_slice(lines);
        }
        if state.is_sent || state.put() {
            return;
        }
        let this = Arc::clone(self);
        state.is_sent = thread::Builder::new().name("stderr".into()).spawn(move || this.send_waiting()).is_ok();
    }

    /// Sends what waits, until nothing does.
    fn send_waiting(&self) {
        loop {
            // An interruption or an error shows again when lines are written.
            let _ = poll(&mut [PollFd::new(&self.room, PollFlags::OUT)], None);
            let mut state = self.lock();
            if !state.put() {
                continue;
            }
            if state.dropped == 0 {
                state.is_sent = false;
                return;
            }
            let dropped = std::mem::take(&mut state.dropped);
            state.waiting = format!("torr-serve: standard error was not read; lines dropped: {dropped}\n").into();
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing panics while the lock is held.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Writes what waits. Returns whether nothing waits any more: a closed standard error takes nothing.
    fn put(&mut self) -> bool {
        let done = self.output.put(&mut self.waiting);
        if done.is_err_and(|error| error.kind() == ErrorKind::WouldBlock) {
            return false;
        }
        self.waiting.clear();
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufRead, BufReader};

    #[test]
    fn a_reader_that_stands_still_blocks_no_writer_and_reads_how_much_was_dropped() {
        const WRITTEN: usize = 50_000;
        let (reader, writer) = io::pipe().expect("a descriptor is free");
        let lines = Lines::to(&writer).expect("the pipe can be opened again");
        // More than the pipe and what may wait: one of these writes would block at last.
        (0..WRITTEN).for_each(|n| lines.write(format!("line {n}\n").as_bytes()));
        let mut read = BufReader::new(reader).lines().map(|line| line.expect("it is text"));
        let kept = read.by_ref().take_while(|line| line.starts_with("line ")).enumerate();
        // The line behind the last of these is that of the dropped ones, which the reader takes as well.
        let (mut count, mut last) = (0, String::new());
        kept.for_each(|(n, line)| {
            assert_eq!(line, format!("line {n}"));
            (count, last) = (n + 1, line);
        });
        assert!(count > 0 && count < WRITTEN, "{last} was the last of {count}");
        wait_until_sent(&lines);
        lines.write(b"later\n");
        assert_eq!(read.next().as_deref(), Some("later"));
    }

    fn wait_until_sent(lines: &Lines) {
        while lines.lock().is_sent {
            thread::yield_now();
        }
    }

    #[test]
    fn a_closed_reader_is_no_error() {
        let (reader, writer) = io::pipe().expect("a descriptor is free");
        let lines = Lines::to(&writer).expect("the pipe can be opened again");
        drop(reader);
        lines.write(b"nobody reads this\n");
        assert!(!lines.lock().is_sent && lines.lock().waiting.is_empty());
    }
}
