//! The requests that were read ahead, a queue for each load thread.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use torr_logs::LoggedRequest;
use torr_press::{DueTimes, NextDue};

/// The number of requests that are read ahead for a thread.
const AHEAD: usize = 4096;
/// The bytes of their bodies from which on no more are read ahead.
const BYTES_AHEAD: usize = 16 * 1024 * 1024;
/// How long the reading thread waits before it looks whether the run has ended.
const POLL: Duration = Duration::from_millis(50);

/// The requests of all load threads.
#[derive(Debug)]
pub(crate) struct Queues {
    threads: Vec<ThreadQueue>,
    is_stopped: AtomicBool,
}

#[derive(Debug, Default)]
struct ThreadQueue {
    state: Mutex<State>,
    /// Signals the reading thread that there is room again.
    room: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// Requests with the times at which they are due, in nanoseconds of the run's clock.
    waiting: VecDeque<(u64, LoggedRequest)>,
    /// The bytes of their bodies.
    bytes: usize,
    /// The request that the thread begins next.
    taken: Option<LoggedRequest>,
    has_ended: bool,
}

fn lock(queue: &ThreadQueue) -> MutexGuard<'_, State> {
    queue.state.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Queues {
    /// Returns the queues of so many threads, at least one.
    pub fn new(threads: usize) -> Self {
        let threads = (0..threads.max(1)).map(|_| ThreadQueue::default()).collect();
        Self { threads, is_stopped: AtomicBool::new(false) }
    }

    /// Adds a request to the queue of a thread, of any number, once there is room. Returns whether the run goes on.
    pub fn put(&self, thread: u64, due: u64, request: LoggedRequest) -> bool {
        let queue = &self.threads[(thread % self.threads.len() as u64) as usize];
        let mut state = lock(queue);
        while state.waiting.len() >= AHEAD || state.bytes >= BYTES_AHEAD {
            if self.is_stopped.load(Ordering::Relaxed) {
                return false;
            }
            state = queue.room.wait_timeout(state, POLL).unwrap_or_else(PoisonError::into_inner).0;
        }
        state.bytes += request.body.len();
        state.waiting.push_back((due, request));
        !self.is_stopped.load(Ordering::Relaxed)
    }

    /// Notes that no more requests follow.
    pub fn end(&self) {
        self.threads.iter().for_each(|queue| lock(queue).has_ended = true);
    }

    /// Ends the reading of the log.
    pub fn stop(&self) {
        self.is_stopped.store(true, Ordering::Relaxed);
    }

    /// Returns the request that a thread has taken to begin it.
    pub fn begin(&self, thread: usize) -> Option<LoggedRequest> {
        lock(&self.threads[thread % self.threads.len()]).taken.take()
    }
}

impl DueTimes for Queues {
    fn next(&self, thread: usize) -> NextDue {
        let Some(queue) = self.threads.get(thread) else { return NextDue::Never };
        let state = lock(queue);
        match state.waiting.front() {
            Some((due, _)) => NextDue::At(*due),
            None if state.has_ended => NextDue::Never,
            None => NextDue::Unknown,
        }
    }

    fn take(&self, thread: usize) {
        let Some(queue) = self.threads.get(thread) else { return };
        let mut state = lock(queue);
        let had_room = state.bytes < BYTES_AHEAD;
        if let Some((_, request)) = state.waiting.pop_front() {
            state.bytes -= request.body.len();
            state.taken = Some(request);
        }
        if state.waiting.len() == AHEAD / 2 || !had_room && state.bytes < BYTES_AHEAD {
            queue.room.notify_one();
        }
    }
}
