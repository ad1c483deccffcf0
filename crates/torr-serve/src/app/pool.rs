//! Threads for handlers that block, apart from the workers: a handler there keeps nobody waiting but those behind it.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::task::JoinHandle;

/// The pool, shared by all workers.
#[derive(Debug, Clone)]
pub(crate) struct Pool {
    threads: Handle,
    /// Calls that have been taken and are not done.
    taken: Arc<AtomicUsize>,
    most: usize,
}

/// Keeps the pool's threads alive.
#[derive(Debug)]
pub(crate) struct Threads(Option<Runtime>);

/// A place in the pool or its queue.
struct Place(Arc<AtomicUsize>);

impl Pool {
    /// So many threads, which are started when they are needed, and so many places in the queue for them.
    ///
    /// # Errors
    /// If the system refuses what a runtime needs.
    pub fn new(threads: usize, queue: usize) -> io::Result<(Threads, Self)> {
        let threads = threads.max(1);
        let runtime = Builder::new_current_thread().thread_name("blocking").max_blocking_threads(threads).build()?;
        let handle = runtime.handle().clone();
        let pool = Self { threads: handle, taken: Arc::default(), most: threads.saturating_add(queue) };
        Ok((Threads(Some(runtime)), pool))
    }

    /// Calls this on a thread of the pool. `None` if its queue is full.
    pub fn run<T: Send + 'static>(&self, call: impl FnOnce() -> T + Send + 'static) -> Option<JoinHandle<T>> {
        let place = Place::take(&self.taken, self.most)?;
        Some(self.threads.spawn_blocking(move || {
            let _place = place;
            call()
        }))
    }
}

impl Place {
    fn take(taken: &Arc<AtomicUsize>, most: usize) -> Option<Self> {
        let next = |taken: usize| (taken < most).then(|| taken + 1);
        taken.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next).ok().map(|_| Self(Arc::clone(taken)))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Threads {
    /// Ends, and waits for so long for calls that are running. Those that wait for a thread are dropped.
    pub fn end(mut self, patience: Duration) {
        self.0.take().into_iter().for_each(|runtime| runtime.shutdown_timeout(patience));
    }
}

impl Drop for Threads {
    /// Without waiting for calls that nobody waits for any more.
    fn drop(&mut self) {
        self.0.take().into_iter().for_each(Runtime::shutdown_background);
    }
}
