//! How often and how long operations wait for a connection.

use std::fmt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;
#[cfg(feature = "network")]
use std::time::Instant;

/// Counts of a database's connection pools, over all worker threads.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PoolWaits {
    /// Waits that have ended.
    pub waits: u64,
    /// Waits that ended without a connection.
    pub exhausted: u64,
    /// The sum of all ended waits.
    pub waited: Duration,
    /// Operations that wait now.
    pub waiting: u64,
    /// Connections opened.
    pub opened: u64,
}

/// An event of a connection pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PoolEvent {
    /// A connection was opened.
    Opened,
    /// An operation begins to wait for a connection.
    WaitBegan,
    /// A wait has ended, with or without a connection, after this time.
    WaitEnded(Duration),
    /// A wait has ended without a connection.
    Exhausted,
}

type Observer = Box<dyn Fn(PoolEvent) + Send + Sync>;

/// The counters behind [`PoolWaits`]. Only operations that wait or connect touch them; all others share no memory.
#[derive(Default)]
pub(crate) struct PoolCounters {
    waits: AtomicU64,
    exhausted: AtomicU64,
    waited_ns: AtomicU64,
    waiting: AtomicU64,
    opened: AtomicU64,
    observer: OnceLock<Observer>,
}

impl fmt::Debug for PoolCounters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.read().fmt(f)
    }
}

impl PoolCounters {
    pub(crate) fn read(&self) -> PoolWaits {
        PoolWaits {
            waits: self.waits.load(Relaxed),
            exhausted: self.exhausted.load(Relaxed),
            waited: Duration::from_nanos(self.waited_ns.load(Relaxed)),
            waiting: self.waiting.load(Relaxed),
            opened: self.opened.load(Relaxed),
        }
    }

    /// Installs the observer of all later events, unless there is one.
    pub(crate) fn observe(&self, observer: Observer) {
        let _ = self.observer.set(observer);
    }

    #[cfg(feature = "network")]
    fn notify(&self, event: PoolEvent) {
        self.observer.get().inspect(|observer| observer(event));
    }

    #[cfg(feature = "network")]
    pub(crate) fn begin(&self) -> PoolWait<'_> {
        self.waiting.fetch_add(1, Relaxed);
        self.notify(PoolEvent::WaitBegan);
        PoolWait { counters: self, since: Instant::now() }
    }

    #[cfg(feature = "network")]
    pub(crate) fn exhausted(&self) {
        self.exhausted.fetch_add(1, Relaxed);
        self.notify(PoolEvent::Exhausted);
    }

    #[cfg(feature = "network")]
    pub(crate) fn opened(&self) {
        self.opened.fetch_add(1, Relaxed);
        self.notify(PoolEvent::Opened);
    }
}

/// A wait that ends when the value is dropped, also if the waiting future is cancelled.
#[cfg(feature = "network")]
pub(crate) struct PoolWait<'w> {
    counters: &'w PoolCounters,
    since: Instant,
}

#[cfg(feature = "network")]
impl Drop for PoolWait<'_> {
    fn drop(&mut self) {
        let waited = self.since.elapsed();
        self.counters.waited_ns.fetch_add(u64::try_from(waited.as_nanos()).unwrap_or(u64::MAX), Relaxed);
        self.counters.waits.fetch_add(1, Relaxed);
        self.counters.waiting.fetch_sub(1, Relaxed);
        self.counters.notify(PoolEvent::WaitEnded(waited));
    }
}
