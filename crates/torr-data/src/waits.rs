//! How often and how long somebody waited for a connection.

use std::fmt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;
#[cfg(feature = "network")]
use std::time::Instant;

/// What a database's pools have seen so far, those of all its worker threads together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PoolWaits {
    /// How often somebody had to wait, those who wait now not counted.
    pub waits: u64,
    /// How many of these waited in vain.
    pub exhausted: u64,
    /// How long all of them waited together.
    pub waited: Duration,
    /// How many wait now.
    pub waiting: u64,
    /// How many connections were opened.
    pub opened: u64,
}

/// Something that happens at a pool, for who keeps counts of his own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PoolEvent {
    /// A connection was opened.
    Opened,
    /// Somebody begins to wait for a connection.
    WaitBegan,
    /// Somebody has waited so long, be it in vain.
    WaitEnded(Duration),
    /// Somebody has waited in vain.
    Exhausted,
}

type Observer = Box<dyn Fn(PoolEvent) + Send + Sync>;

/// The counts behind [`PoolWaits`]. They are touched only where somebody waits, so other operations share nothing.
#[derive(Default)]
pub(crate) struct Waits {
    waits: AtomicU64,
    exhausted: AtomicU64,
    waited_ns: AtomicU64,
    waiting: AtomicU64,
    opened: AtomicU64,
    observer: OnceLock<Observer>,
}

impl fmt::Debug for Waits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.read().fmt(f)
    }
}

impl Waits {
    pub(crate) fn read(&self) -> PoolWaits {
        PoolWaits {
            waits: self.waits.load(Relaxed),
            exhausted: self.exhausted.load(Relaxed),
            waited: Duration::from_nanos(self.waited_ns.load(Relaxed)),
            waiting: self.waiting.load(Relaxed),
            opened: self.opened.load(Relaxed),
        }
    }

    /// Tells of all events from here on, if nobody is told already.
    pub(crate) fn observe(&self, observer: Observer) {
        let _ = self.observer.set(observer);
    }

    #[cfg(feature = "network")]
    fn tell(&self, event: PoolEvent) {
        self.observer.get().inspect(|observer| observer(event));
    }

    #[cfg(feature = "network")]
    pub(crate) fn begin(&self) -> Waiting<'_> {
        self.waiting.fetch_add(1, Relaxed);
        self.tell(PoolEvent::WaitBegan);
        Waiting { waits: self, since: Instant::now() }
    }

    #[cfg(feature = "network")]
    pub(crate) fn exhausted(&self) {
        self.exhausted.fetch_add(1, Relaxed);
        self.tell(PoolEvent::Exhausted);
    }

    #[cfg(feature = "network")]
    pub(crate) fn opened(&self) {
        self.opened.fetch_add(1, Relaxed);
        self.tell(PoolEvent::Opened);
    }
}

/// Somebody who waits, until this is dropped: also if nobody wants to know the outcome any more.
#[cfg(feature = "network")]
pub(crate) struct Waiting<'w> {
    waits: &'w Waits,
    since: Instant,
}

#[cfg(feature = "network")]
impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let waited = self.since.elapsed();
        self.waits.waited_ns.fetch_add(u64::try_from(waited.as_nanos()).unwrap_or(u64::MAX), Relaxed);
        self.waits.waits.fetch_add(1, Relaxed);
        self.waits.waiting.fetch_sub(1, Relaxed);
        self.waits.tell(PoolEvent::WaitEnded(waited));
    }
}
