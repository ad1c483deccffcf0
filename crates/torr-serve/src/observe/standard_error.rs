//! Standard error, to which lines are written without waiting for its reader.
//!
//! A pipe or a terminal whose reader stands still blocks its writers. A supervisor that waited there would neither stop on a signal
//! nor replace a worker, and a worker would not serve. Lines that standard error does not take at once are sent by a thread that
//! waits instead, in their order. Beyond a bound, lines are dropped and counted.

use super::output::{Output, count};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io::{self, ErrorKind, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// The number of bytes that wait at most.
const MOST_WAITING: usize = 64 * 1024;

/// The report of dropped lines, which ends with their number.
const DROPPED: &str = "torr-serve: standard error was not read; lines dropped: ";

/// The longest time for which the end of a server waits for the reader of standard error.
const LONGEST_FLUSH: Duration = Duration::from_secs(1);

/// The lines of this process.
static SHARED: LazyLock<Option<Arc<Lines>>> = LazyLock::new(|| Lines::to(io::stderr()).ok());

/// A writer to the process's standard error that does not block but for [`flush`](Write::flush), for the program's log: each write is one line or several. A failure to
/// write is no error, since a server goes on without its log.
///
/// ```
/// tracing_subscriber::fmt().with_writer(|| torr_serve::StandardError).init();
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct StandardError;

impl Write for StandardError {
    fn write(&mut self, lines: &[u8]) -> io::Result<usize> {
        SHARED.iter().for_each(|shared| shared.write(lines));
        Ok(lines.len())
    }

    /// Waits until standard error has taken all lines, at most for a second. A server does this before it ends.
    fn flush(&mut self) -> io::Result<()> {
        SHARED.iter().for_each(|shared| shared.flush(LONGEST_FLUSH));
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

    /// Writes what waits, at most for so long.
    fn flush(&self, longest: Duration) {
        let begun = Instant::now();
        while !self.lock().put() {
            let left = longest.saturating_sub(begun.elapsed());
            // A second or less is in the range of the type.
            let Ok(left) = Timespec::try_from(left) else { return };
            if matches!(poll(&mut [PollFd::new(&self.room, PollFlags::OUT)], Some(&left)), Ok(0)) {
                return;
            }
        }
    }

    /// Sends what waits, until nothing does.
    fn send_waiting(&self) {
        loop {
            // An interruption or an error shows again when lines are written.
            let _ = poll(&mut [PollFd::new(&self.room, PollFlags::OUT)], None);
            let mut state = self.lock();
            if state.put() {
                state.is_sent = false;
                return;
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing panics while the lock is held.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Writes what waits, and then how many lines were dropped. Returns whether nothing waits any more: a closed standard error
    /// takes nothing.
    fn put(&mut self) -> bool {
        loop {
            let done = self.output.put(&mut self.waiting);
            if done.is_err_and(|error| error.kind() == ErrorKind::WouldBlock) {
                return false;
            }
            self.waiting.clear();
            if self.dropped == 0 {
                return true;
            }
            let dropped = std::mem::take(&mut self.dropped);
            self.waiting = format!("{DROPPED}{dropped}\n").into();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufRead, BufReader, Read};

    #[test]
    fn a_reader_that_stands_still_blocks_no_writer_and_reads_how_much_was_dropped() {
        const WRITTEN: usize = 50_000;
        let (reader, writer) = io::pipe().expect("a descriptor is free");
        let lines = Lines::to(&writer).expect("the pipe can be opened again");
        // More than the pipe and what may wait: one of these writes would block at last.
        (0..WRITTEN).for_each(|n| lines.write(format!("line {n}\n").as_bytes()));
        let mut read = BufReader::new(reader).lines().map(|line| line.expect("it is text"));
        let (mut count, mut next) = (0, read.next());
        while let Some(line) = next.take_if(|line| line.starts_with("line ")) {
            assert_eq!(line, format!("line {count}"));
            (count, next) = (count + 1, read.next());
        }
        assert!(count > 0 && count < WRITTEN, "{count} were read");
        let report = next.expect("the dropped lines are reported");
        let dropped: Option<usize> = report.strip_prefix(DROPPED).and_then(|dropped| dropped.parse().ok());
        assert_eq!(dropped.map(|dropped| count + dropped), Some(WRITTEN), "{report}");
        wait_until_sent(&lines);
        lines.write(b"later\n");
        assert_eq!(read.next().as_deref(), Some("later"));
    }

    #[test]
    fn the_last_lines_are_written_before_the_end_to_a_reader_that_reads() {
        let (mut reader, writer) = io::pipe().expect("a descriptor is free");
        let lines = Lines::to(&writer).expect("the pipe can be opened again");
        // As if no thread could be started that sends them.
        lines.lock().is_sent = true;
        lines.write(&[b'x'; 1 << 20]);
        let begun = Instant::now();
        lines.flush(Duration::from_millis(50));
        assert!(begun.elapsed() >= Duration::from_millis(50) && !lines.lock().put());
        let read = thread::spawn(move || {
            let mut read = Vec::new();
            reader.read_to_end(&mut read).map(|_| read.len())
        });
        lines.flush(Duration::from_secs(60));
        drop((lines, writer));
        assert_eq!(read.join().expect("it does not panic").expect("a pipe can be read"), 1 << 20);
    }

    #[test]
    fn dropped_lines_are_reported_without_a_thread_to_send_them() {
        let (mut reader, writer) = io::pipe().expect("a descriptor is free");
        let lines = Lines::to(&writer).expect("the pipe can be opened again");
        // As if no thread could be started when these lines were dropped.
        lines.lock().dropped = 3;
        lines.write(b"later\n");
        drop((lines, writer));
        let mut read = String::new();
        reader.read_to_string(&mut read).expect("it is text");
        assert_eq!(read, "later\ntorr-serve: standard error was not read; lines dropped: 3\n");
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
