//! The state that the load threads of a run share, and the link of each to the run.

use crate::engine::Coordinator;
use crate::plan::Plan;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, mpsc};
use torr_gauge::{Failure, Sample};
use torr_net::Nanos;

/// The state that all threads of a run share.
pub(crate) struct RunState {
    abort: AtomicBool,
    /// The number of failed attempts that ends the run if none has succeeded.
    max_failed_connects: u64,
    /// The latest time at which a thread began.
    began: AtomicU64,
    connected: AtomicBool,
    failed_connects: AtomicU64,
    /// The server that the last failed attempt was about, and why the attempt failed.
    last_failure: Mutex<Option<(usize, Failure)>>,
    /// Samples that have been read and emptied, for threads to fill again: at most one for each thread, so that a time in which
    /// none was read takes no memory for the rest of the run.
    spare_samples: Mutex<Vec<Sample>>,
    max_spare_samples: usize,
}

impl RunState {
    pub fn new(plan: &Plan) -> Self {
        let attempts = plan.requests.map_or(plan.connections as u64, |n| n.min(plan.connections as u64));
        Self {
            abort: AtomicBool::new(false),
            max_failed_connects: attempts.max(plan.all_addresses().count() as u64),
            began: AtomicU64::new(0),
            connected: AtomicBool::new(false),
            failed_connects: AtomicU64::new(0),
            last_failure: Mutex::new(None),
            spare_samples: Mutex::new((0..plan.thread_count()).map(|_| Sample::default()).collect()),
            max_spare_samples: plan.thread_count(),
        }
    }

    /// Ends the run in all threads.
    pub fn abort(&self) {
        self.abort.store(true, Ordering::Relaxed);
    }

    /// Notes when a thread begins.
    pub fn begins(&self, at: Nanos) {
        self.began.fetch_max(at, Ordering::Relaxed);
    }

    /// Returns the latest time at which a thread began.
    pub fn began(&self) -> Nanos {
        self.began.load(Ordering::Relaxed)
    }

    /// Whether the run is to end in all threads.
    pub fn is_stopped(&self) -> bool {
        self.abort.load(Ordering::Relaxed) || self.is_unreachable()
    }

    /// Empties a sample that has been read, and keeps its memory for a thread to fill.
    pub fn recycle(&self, sample: Sample) {
        let cleared = sample.cleared();
        let mut spare = self.spare_samples();
        if spare.len() < self.max_spare_samples {
            spare.push(cleared);
        }
    }

    /// Returns an empty sample. It is a new one if a thread hands over again before what it handed over was read.
    pub fn spare_sample(&self) -> Sample {
        self.spare_samples().pop().unwrap_or_default()
    }

    fn spare_samples(&self) -> MutexGuard<'_, Vec<Sample>> {
        self.spare_samples.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    fn is_unreachable(&self) -> bool {
        self.failed_connects.load(Ordering::Relaxed) >= self.max_failed_connects
            && !self.connected.load(Ordering::Relaxed)
    }

    /// Returns the server that the last attempt to connect was about, and why the attempt failed, if none has succeeded.
    pub fn take_connect_failure(&self) -> Option<(usize, Failure)> {
        if self.connected.load(Ordering::Relaxed) {
            return None;
        }
        self.last_failure.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).take()
    }
}

/// A message from a thread to the collector.
pub(crate) enum Report {
    Sample { thread: usize, interval: u64, sample: Sample, last: bool },
    HeldUp { thread: usize, interval: u64, open: u64 },
    Warmup(Sample),
}

/// The coordinator of one thread.
pub(crate) struct ThreadCoordinator<'r> {
    pub number: usize,
    pub state: &'r RunState,
    pub reports: mpsc::Sender<Report>,
}

impl Coordinator for ThreadCoordinator<'_> {
    fn number(&self) -> usize {
        self.number
    }

    fn sample(&self, interval: u64, sample: Sample, last: bool) {
        // Without a receiver the run has ended without this thread.
        let _ = self.reports.send(Report::Sample { thread: self.number, interval, sample, last });
    }

    fn held_up(&self, interval: u64, open: u64) {
        let _ = self.reports.send(Report::HeldUp { thread: self.number, interval, open });
    }

    fn warmup(&self, sample: Sample) {
        let _ = self.reports.send(Report::Warmup(sample));
    }

    fn fresh_sample(&self) -> Sample {
        self.state.spare_sample()
    }

    fn is_stopped(&self) -> bool {
        self.state.is_stopped()
    }

    fn abort(&self) {
        self.state.abort();
    }

    fn connected(&self) {
        self.state.connected.store(true, Ordering::Relaxed);
    }

    fn connect_failed(&self, server: usize, failure: &Failure) {
        self.state.failed_connects.fetch_add(1, Ordering::Relaxed);
        *self.state.last_failure.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) =
            Some((server, failure.clone()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Requests, Target};

    #[test]
    fn there_are_at_most_as_many_spare_samples_as_threads() {
        let target = Target::parse("http://127.0.0.1:1/").expect("this is a target");
        let requests = Requests::get(&target, true).expect("this is a request");
        let state = RunState::new(&Plan { connections: 2, threads: 2, ..Plan::new(target, vec![], requests) });
        let taken: Vec<_> = (0..5).map(|_| state.spare_sample()).collect();
        assert_eq!(state.spare_samples().len(), 0);
        taken.into_iter().for_each(|sample| state.recycle(sample));
        assert_eq!(state.spare_samples().len(), 2);
    }
}
