//! The thread that reads the log ahead of the load.

use crate::bursts::BurstCounter;
use crate::queue::Queues;
use std::sync::{Mutex, PoisonError};
use torr_logs::{LogCounts, LogReader, LoggedRequest};

/// After how many requests the state of the reading is noted.
const NOTED: u64 = 256;

/// How far the log was read.
#[derive(Debug, Clone, Default)]
pub(crate) struct ReadSoFar {
    pub counts: LogCounts,
    pub requests: u64,
    /// The time of the last request, in nanoseconds since the Unix epoch.
    pub last: i64,
    pub bursts: BurstCounter,
    /// The error that ended the reading, if one did.
    pub error: Option<String>,
}

/// What the reading thread has.
pub(crate) struct Reading {
    pub reader: LogReader,
    pub speed: f64,
    pub most: Option<u64>,
    /// The time of the run's clock from which on nothing is sent, in nanoseconds.
    pub until: Option<u64>,
}

impl Reading {
    /// Reads the log to its end, or until the run ends. `first` is the first request, which was read before.
    pub fn run(mut self, first: LoggedRequest, queues: &Queues, noted: &Mutex<ReadSoFar>) {
        let begin = first.at;
        let mut so_far = ReadSoFar { last: begin, ..ReadSoFar::default() };
        let mut next = Some(first);
        while let Some(request) = next.take().filter(|_| self.most.is_none_or(|most| so_far.requests < most)) {
            let (at, since) = (request.at, request.at.saturating_sub(begin).max(0));
            // A due time that a clock cannot have is never reached.
            let due = (since as f64 / self.speed) as u64;
            if self.until.is_some_and(|until| due >= until) {
                break;
            }
            so_far.last = at;
            so_far.bursts.count(since);
            if !queues.put(so_far.requests, due, request) {
                break;
            }
            so_far.requests += 1;
            if so_far.requests.is_multiple_of(NOTED) {
                self.note(&so_far, noted);
            }
            match self.reader.next_request() {
                Ok(request) => next = request,
                Err(error) => so_far.error = Some(error.to_string()),
            }
        }
        self.note(&so_far, noted);
        queues.end();
    }

    fn note(&self, so_far: &ReadSoFar, noted: &Mutex<ReadSoFar>) {
        let so_far = ReadSoFar { counts: self.reader.counts(), ..so_far.clone() };
        *noted.lock().unwrap_or_else(PoisonError::into_inner) = so_far;
    }
}
