//! Handlers that compute or block on their worker, which holds up all its other connections: noticed, named, and moved to other
//! threads where that is possible.
//!
//! The hot path pays one comparison for each batch and reads one flag for each request. A batch or a poll that takes long makes the
//! worker *alert*: for a minute it times each call of a handler, so that the next long one is named.

mod learned;
mod observed;
mod path_shape;

pub(crate) use observed::Observed;

use crate::observe::metrics_table::Count;
use crate::observe::notice;
use crate::observe::telemetry::Counts;
use learned::{Learned, Lesson};
use std::cell::Cell;
use std::fs;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use torr_net::{Nanos, clock};

/// The time for which workers are alert after a long call.
const ALERT: Nanos = 60 * 1_000_000_000;
/// The kernel's account of the calling thread: time on a CPU, time that it waited for one, both in nanoseconds, and time slices.
const SCHEDULER: &str = "/proc/thread-self/schedstat";

/// The state of handlers that compute, shared by the workers of a process.
#[derive(Debug)]
pub(crate) struct Computing {
    /// The time from which on a call counts as long.
    threshold: Nanos,
    /// The time until which workers are alert.
    alert_until: AtomicU64,
    /// Whether the application names routes that compute, so that workers are always alert.
    is_declared: bool,
    learned: Learned,
}

impl Computing {
    /// Returns what is known at the start. A `threshold` of 0 switches it off.
    pub fn new(threshold: Duration, is_declared: bool) -> Arc<Self> {
        let threshold = if threshold.is_zero() { Nanos::MAX } else { clock::nanos(threshold) };
        Arc::new(Self { threshold, alert_until: AtomicU64::new(0), is_declared, learned: Learned::default() })
    }

    fn is_calm(&self) -> bool {
        !self.is_declared && !self.learned.has_moved() && clock::coarse() >= self.alert_until.load(Ordering::Relaxed)
    }
}

/// A handler that was called.
pub(crate) struct Route<'r> {
    pub method: &'r str,
    /// The path of the request, or the pattern of the `App`.
    pub path: &'r str,
    /// Whether requests of the route can be moved.
    pub is_movable: bool,
}

/// A route whose requests are moved.
pub(crate) struct MovedRoute {
    computing: Arc<Computing>,
    id: usize,
}

impl MovedRoute {
    /// Notes the longest time that a moved call took without waiting.
    pub fn took(self, longest: Nanos) {
        self.computing.learned.ran(self.id, longest >= self.computing.threshold);
    }
}

/// A worker's watch on its own handlers.
pub(crate) struct Watch {
    shared: Arc<Computing>,
    counts: Counts,
    is_calm: Cell<bool>,
    /// A handler of the batch or the poll that is timed has held up the worker, which is counted.
    is_counted: Cell<bool>,
    /// The time that this thread had waited for a CPU at the last tick.
    delayed: Cell<Nanos>,
}

impl Watch {
    /// Returns the watch of the calling thread.
    pub fn new(shared: Arc<Computing>, counts: Counts) -> Rc<Self> {
        let is_calm = Cell::new(shared.is_calm());
        Rc::new(Self { shared, counts, is_calm, is_counted: Cell::new(false), delayed: Cell::new(run_delay()) })
    }

    /// Whether calls need not be timed.
    #[inline]
    pub fn is_calm(&self) -> bool {
        self.is_calm.get()
    }

    /// Notes how long a batch or a poll took.
    #[inline]
    pub fn took(&self, time: Nanos) {
        if time >= self.shared.threshold {
            self.stalled(time);
        }
    }

    /// Follows what other workers have learned. Called some times a second.
    pub fn tick(&self) {
        if self.shared.threshold != Nanos::MAX {
            self.delayed.set(run_delay());
        }
        self.is_calm.set(self.shared.is_calm());
        self.is_counted.set(false);
    }

    /// Notes how long a handler of `route` took without waiting.
    pub fn handler_took(&self, route: &Route<'_>, time: Nanos) {
        if !self.is_stall(time) {
            return;
        }
        self.count();
        self.is_counted.set(true);
        let (Route { method, path, is_movable }, ms) = (route, time / 1_000_000);
        match self.shared.learned.learn(method, path, *is_movable) {
            Lesson::Known => {}
            Lesson::Moved(shape) => notice::warn(&format!(
                "{method} {shape} blocked its worker for {ms} ms: its requests now run on other threads (see \
                 compute_after)"
            )),
            Lesson::Named(shape) => notice::warn(&format!(
                "{method} {shape} blocked its worker, and all of its connections, for {ms} ms: use a blocking handler \
                 or spawn_blocking"
            )),
        }
    }

    /// Returns the route of a request whose requests are moved.
    pub fn moved(&self, method: &str, path: &str) -> Option<MovedRoute> {
        let id = self.shared.learned.find(method, path)?;
        Some(MovedRoute { computing: Arc::clone(&self.shared), id })
    }

    #[cold]
    fn stalled(&self, time: Nanos) {
        // A batch is longer than its handlers, but the kernel's account may have changed since.
        if !self.is_counted.take() && self.is_stall(time) {
            self.count();
        }
    }

    /// Counts a time that the worker was held up, and makes all workers alert.
    fn count(&self) {
        self.counts.add(Count::Stalled, 1);
        self.shared.alert_until.store(clock::coarse() + ALERT, Ordering::Relaxed);
        self.is_calm.set(false);
    }

    /// Whether code that took this time held up the worker, rather than the worker having waited for a CPU. What the thread has
    /// waited since the last tick is left out, so that a loaded machine makes no handler look long.
    fn is_stall(&self, time: Nanos) -> bool {
        let least = self.shared.threshold;
        time >= least && time.saturating_sub(run_delay().saturating_sub(self.delayed.get())) >= least
    }
}

/// Returns the time that the calling thread has waited for a CPU so far: 0 where the kernel does not tell.
fn run_delay() -> Nanos {
    let delay = |text: String| text.split_ascii_whitespace().nth(1)?.parse().ok();
    fs::read_to_string(SCHEDULER).ok().and_then(delay).unwrap_or(0)
}
