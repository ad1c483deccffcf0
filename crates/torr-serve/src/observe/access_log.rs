//! The access log: a line for each request.
//!
//! Each worker has a [`Writer`] with a buffer of lines, which is written when it is large, and a few times a second. No failure
//! of the file stops the server: lines that cannot be written are kept up to a limit, then dropped, counted, and reported once
//! a minute.

mod dates;
mod format;
mod losses;
mod settings;
#[cfg(test)]
mod tests;

pub(crate) use format::{Entry, RequestLine};
pub use settings::{LogFormat, LogTarget};

use crate::observe::notice;
use crate::observe::output::{Output, count};
use dates::Dates;
use losses::Losses;
use std::io::{self, ErrorKind};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// An open log, which all workers share.
#[derive(Debug, Clone)]
pub(crate) struct AccessLog(Arc<OpenLog>);

#[derive(Debug)]
struct OpenLog {
    target: LogTarget,
    format: LogFormat,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    output: Output,
    losses: Losses,
}

fn open(target: &LogTarget) -> io::Result<Output> {
    match target {
        LogTarget::File(path) => Output::append(path),
        LogTarget::Stdout => Output::shared(io::stdout()),
    }
}

impl AccessLog {
    /// # Errors
    /// If the file cannot be opened; a named pipe needs a reader.
    pub fn open(target: LogTarget, format: LogFormat) -> io::Result<Self> {
        let state = State { output: open(&target)?, losses: Losses::default() };
        Ok(Self(Arc::new(OpenLog { target, format, state: Mutex::new(state) })))
    }

    /// Returns the destination of the log.
    pub fn target(&self) -> &LogTarget {
        &self.0.target
    }

    /// Opens the file by its name again, after `logrotate` has renamed the former file. Standard output stays open.
    ///
    /// # Errors
    /// If the file cannot be opened; the log then continues in the former one.
    pub fn reopen(&self) -> io::Result<()> {
        let fresh = open(&self.0.target)?;
        self.change(|state| {
            let mut former = std::mem::replace(&mut state.output, fresh);
            if let Err(error) = former.put(&mut Vec::new()) {
                state.losses.add(1, &error);
            }
        });
        Ok(())
    }

    /// Returns a worker's writer.
    pub fn writer(&self) -> Writer {
        Writer { dates: Dates::new(self.0.format), log: self.clone(), buffer: Vec::new(), write_at: WRITE_AT }
    }

    /// Writes as many lines as possible, and drops the others if they exceed `keep` bytes.
    fn put(&self, lines: &mut Vec<u8>, keep: usize) {
        self.change(|state| {
            if let Err(error) = state.output.put(lines) {
                // A slow reader is not a failure unless lines are lost.
                let dropped = if lines.len() > keep { count(&std::mem::take(lines)) } else { 0 };
                if dropped > 0 || error.kind() != ErrorKind::WouldBlock {
                    state.losses.add(dropped, &error);
                }
            }
        });
    }

    fn change(&self, work: impl FnOnce(&mut State)) {
        let mut state = self.0.state.lock().unwrap_or_else(PoisonError::into_inner);
        work(&mut state);
        let report = state.losses.report(Instant::now());
        drop(state);
        if let Some(report) = report {
            self.0.warn(&report);
        }
    }
}

impl OpenLog {
    fn warn(&self, report: &str) {
        notice::warn(&format!("access log '{}': {report}", self.target));
    }
}

impl Drop for OpenLog {
    fn drop(&mut self) {
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Err(error) = state.output.put(&mut Vec::new()) {
            state.losses.add(1, &error);
        }
        if let Some(report) = state.losses.last_report() {
            self.warn(&report);
        }
    }
}

/// The size in bytes at which a worker's buffer is written.
const WRITE_AT: usize = 64 * 1024;
/// The most bytes that a worker keeps while they cannot be written.
const KEEP: usize = 1024 * 1024;

/// A worker's lines.
#[derive(Debug)]
pub(crate) struct Writer {
    log: AccessLog,
    dates: Dates,
    buffer: Vec<u8>,
    /// The size of the buffer in bytes at which the next write is attempted.
    write_at: usize,
}

impl Writer {
    /// Adds the line of a request.
    pub fn add(&mut self, entry: &Entry<'_>) {
        format::line(self.log.0.format, entry, &mut self.dates, &mut self.buffer);
        if self.buffer.len() >= self.write_at {
            self.flush();
        }
    }

    /// Writes the buffer as far as that is possible without blocking.
    pub fn flush(&mut self) {
        if !self.buffer.is_empty() {
            self.log.put(&mut self.buffer, KEEP);
            self.write_at = self.buffer.len() + WRITE_AT;
        }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        if !self.buffer.is_empty() {
            self.log.put(&mut self.buffer, 0);
        }
    }
}
