//! A thread that sends figures while a run goes on.
//!
//! Figures count from the beginning of the run, so the newest ones stand for all before: a receiver that is slow gets fewer of them, and
//! the run waits for none.

use super::endpoint::SendError;
use super::receiver::Receiver;
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;
use torr_gauge::collector::Measurement;

/// How much earlier than its time figures are sent, since the progress of a run comes in intervals.
const EARLY: Duration = Duration::from_millis(500);

/// The sending of figures to one receiver.
#[derive(Debug)]
pub struct Pusher {
    receiver: Arc<Receiver>,
    interval: Duration,
    /// The time of the run from which on the next figures are sent.
    due: Duration,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

/// What became of the figures that were sent while the run went on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pushed {
    /// The number of times that they were sent.
    pub sent: u64,
    /// Of these, how often they were not accepted.
    pub failed: u64,
    /// Why they were not accepted the first time.
    pub why: Option<String>,
    /// The number of times that the receiver was still busy.
    pub skipped: u64,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    next: Option<Arc<Measurement>>,
    is_over: bool,
    pushed: Pushed,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        // Each change is complete when the lock is given back.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the figures that are to be sent next, `None` once the run is over.
    fn next(&self) -> Option<Arc<Measurement>> {
        let mut state = self.lock();
        while state.next.is_none() && !state.is_over {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.next.take().filter(|_| !state.is_over)
    }
}

impl Pusher {
    /// Starts the thread, which sends figures once in an interval.
    ///
    /// # Errors
    /// If the system refuses a thread.
    pub fn start(receiver: Receiver, interval: Duration) -> io::Result<Self> {
        let (receiver, shared) = (Arc::new(receiver), Arc::<Shared>::default());
        let (to, from) = (Arc::clone(&receiver), Arc::clone(&shared));
        let send = move || {
            while let Some(run) = from.next() {
                let outcome = to.send(&run);
                let mut state = from.lock();
                state.pushed.sent += 1;
                if let Err(error) = outcome {
                    state.pushed.failed += 1;
                    state.pushed.why.get_or_insert_with(|| error.to_string());
                }
            }
        };
        let thread = thread::Builder::new().name("push".into()).spawn(send)?;
        Ok(Self { receiver, interval, due: interval, shared, thread: Some(thread) })
    }

    /// Returns whether it is time to send figures, so long after the run began.
    pub fn is_due(&self, elapsed: Duration) -> bool {
        elapsed + EARLY >= self.due
    }

    /// Takes the figures of a run that goes on, so long after it began.
    pub fn put(&mut self, elapsed: Duration, run: Arc<Measurement>) {
        self.due = elapsed + self.interval;
        let mut state = self.shared.lock();
        if state.next.replace(run).is_some() {
            state.pushed.skipped += 1;
        }
        self.shared.changed.notify_one();
    }

    /// Returns the URL of the receiver without secrets.
    pub fn url(&self) -> String {
        self.receiver.url()
    }

    /// Sends the figures of the whole run. Returns what became of those before, and of these.
    pub fn finish(mut self, run: &Measurement) -> (Pushed, Result<(), SendError>) {
        self.stop();
        let pushed = std::mem::take(&mut self.shared.lock().pushed);
        (pushed, self.receiver.send(run))
    }

    /// Ends the thread, once what it is sending has arrived or failed.
    fn stop(&mut self) {
        self.shared.lock().is_over = true;
        self.shared.changed.notify_one();
        if let Some(thread) = self.thread.take() {
            // A thread that has panicked has said so.
            let _ = thread.join();
        }
    }
}

impl Drop for Pusher {
    fn drop(&mut self) {
        self.stop();
    }
}
