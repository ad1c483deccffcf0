//! The threads of blocking handlers, apart from the workers, with a bounded queue before them.

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
}

/// The threads, which end when this is dropped.
#[derive(Debug)]
pub(crate) struct BlockingThreads(Option<Runtime>);

/// The admission of one call.
struct Admission(Arc<AtomicUsize>);

impl BlockingPool {
    /// Returns a pool of at most `threads` threads, which start on demand, and a queue of `queue` calls.
    ///
    /// # Errors
    /// If the system refuses what a runtime needs.
    pub fn new(threads: usize, queue: usize) -> io::Result<(BlockingThreads, Self)> {
        let threads = threads.max(1);
        let runtime = Builder::new_current_thread().thread_name("blocking").max_blocking_threads(threads).build()?;
        let handle = runtime.handle().clone();
        let pool = Self { threads: handle, admitted: Arc::default(), limit: threads.saturating_add(queue) };
        Ok((BlockingThreads(Some(runtime)), pool))
    }

    /// Runs `call` on a thread of the pool. `None` if the queue is full.
    pub fn run<T: Send + 'static>(&self, call: impl FnOnce() -> T + Send + 'static) -> Option<JoinHandle<T>> {
        let admission = Admission::new(&self.admitted, self.limit)?;
        Some(self.threads.spawn_blocking(move || {
            let _admission = admission;
            call()
        }))
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
