//! The threads of blocking handlers, apart from the workers, with a bounded queue before them.

use crate::observe::metrics_table::Count;
use crate::observe::telemetry::Counts;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::task::JoinHandle;

/// The queue, which all workers of a process share.
#[derive(Debug, Clone)]
pub(crate) struct BlockingPool {
    threads: Handle,
    /// Calls that wait for a thread or run.
    admitted: Arc<AtomicUsize>,
    /// The bound of `admitted`: threads and queue together.
    limit: usize,
    /// The number of threads, and of calls that have one but only wait for something.
    size: usize,
    waiting: Arc<AtomicUsize>,
}

/// Counts a call on the pool as done when dropped, whether the call has run or was taken back.
pub(crate) struct Done(Counts);

impl Done {
    pub fn new(counts: Counts) -> Self {
        Self(counts)
    }
}

impl Drop for Done {
    fn drop(&mut self) {
        self.0.add(Count::BlockedDone, 1);
    }
}

/// A call's mark that it only waits.
pub(crate) struct Waiting(Arc<AtomicUsize>);

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The threads, which end when this is dropped.
#[derive(Debug)]
pub(crate) struct BlockingThreads(Option<Runtime>);

/// The admission of one call.
pub(crate) struct Admission(Arc<AtomicUsize>);

/// A call on the pool. Dropping this takes back a call that has not begun.
pub(crate) struct Called<T>(pub JoinHandle<T>);

impl<T> Drop for Called<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl BlockingPool {
    /// Returns a pool of at most `threads` threads, which start on demand, and a queue of `queue` calls.
    ///
    /// # Errors
    /// If the system refuses what a runtime needs.
    pub fn new(threads: usize, queue: usize) -> io::Result<(BlockingThreads, Self)> {
        let threads = threads.max(1);
        let runtime = Builder::new_current_thread().thread_name("blocking").max_blocking_threads(threads).build()?;
        let handle = runtime.handle().clone();
        let limit = threads.saturating_add(queue);
        let pool = Self { threads: handle, admitted: Arc::default(), limit, size: threads, waiting: Arc::default() };
        Ok((BlockingThreads(Some(runtime)), pool))
    }

    /// Runs `call` on a thread of the pool. `None` if the queue is full.
    pub fn run<T: Send + 'static>(&self, call: impl FnOnce() -> T + Send + 'static) -> Option<JoinHandle<T>> {
        Some(self.run_admitted(self.admit()?, call))
    }

    /// Returns the right to one call. `None` if the queue is full.
    pub fn admit(&self) -> Option<Admission> {
        Admission::new(&self.admitted, self.limit)
    }

    /// Returns the mark of a call that only waits, for as long as it does.
    pub fn wait(&self) -> Waiting {
        self.waiting.fetch_add(1, Ordering::Relaxed);
        Waiting(Arc::clone(&self.waiting))
    }

    /// Whether half of the threads are taken by calls that only wait, so that a queue might not move.
    pub fn is_stuck(&self) -> bool {
        2 * self.waiting.load(Ordering::Relaxed) >= self.size
    }

    /// Runs an admitted call on a thread of the pool.
    pub fn run_admitted<T: Send + 'static>(
        &self,
        admission: Admission,
        call: impl FnOnce() -> T + Send + 'static,
    ) -> JoinHandle<T> {
        self.threads.spawn_blocking(move || {
            let _admission = admission;
            call()
        })
    }
}

impl Admission {
    fn new(admitted: &Arc<AtomicUsize>, limit: usize) -> Option<Self> {
        let next = |admitted: usize| (admitted < limit).then(|| admitted + 1);
        admitted.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next).ok().map(|_| Self(Arc::clone(admitted)))
    }
}

impl Drop for Admission {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl BlockingThreads {
    /// Drops calls that wait for a thread, and waits at most `timeout` for calls that run.
    pub fn end(mut self, timeout: Duration) {
        self.0.take().into_iter().for_each(|runtime| runtime.shutdown_timeout(timeout));
    }
}

impl Drop for BlockingThreads {
    /// Ends without waiting for calls that run.
    fn drop(&mut self) {
        self.0.take().into_iter().for_each(Runtime::shutdown_background);
    }
}
