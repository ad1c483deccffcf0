//! Watchers, which start with the first request for their target and end some time after the last.

use super::query::Target;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};
use torr_signals::{Reading, Watcher};

/// How many services are watched at a time.
const MOST: usize = 8;
/// How long a watcher stays without a request.
const KEPT: Duration = Duration::from_secs(60);

type Kept = HashMap<Target, Entry>;

/// The watchers that there are.
#[derive(Debug)]
pub struct Watchers(Arc<Mutex<Kept>>);

#[derive(Debug)]
struct Entry {
    watcher: Arc<Watcher>,
    requested: Instant,
}

/// Why there is no reading.
#[derive(Debug, Clone, Copy)]
pub enum Refusal {
    /// Nothing listens there, as far as can be seen.
    NoProcess,
    /// Too many others are watched.
    Full,
}

impl Refusal {
    pub fn status(self) -> u16 {
        match self {
            Self::NoProcess => 404,
            Self::Full => 503,
        }
    }

    pub fn line(self, target: Target) -> String {
        match self {
            Self::NoProcess => {
                format!(
                    "no visible process listens on {target}: run 'torr watch' inside of the container, if there is one"
                )
            }
            Self::Full => {
                format!("{MOST} other services are already watched: retry in a minute, when unused ones are dropped")
            }
        }
    }
}

impl Watchers {
    pub fn new() -> Self {
        let kept = Arc::new(Mutex::new(Kept::new()));
        let weak = Arc::downgrade(&kept);
        // Without it, an unused watcher would stay until the next request for another one.
        std::thread::spawn(move || sweep(&weak));
        Self(kept)
    }

    /// What the watcher of this service has counted. One is made if there is none.
    pub fn reading(&self, target: Target) -> Result<Reading, Refusal> {
        let watcher = self.watcher(target)?;
        Ok(watcher.reading())
    }

    fn watcher(&self, target: Target) -> Result<Arc<Watcher>, Refusal> {
        let mut kept = lock(&self.0);
        if let Some(entry) = kept.get_mut(&target) {
            entry.requested = Instant::now();
            return Ok(entry.watcher.clone());
        }
        if kept.len() >= MOST {
            return Err(Refusal::Full);
        }
        let started = match target {
            Target::Port(port) => Watcher::start_port(port),
            Target::Address(address) => Watcher::start(&[address]),
        };
        let watcher = Arc::new(started.ok_or(Refusal::NoProcess)?);
        kept.insert(target, Entry { watcher: watcher.clone(), requested: Instant::now() });
        Ok(watcher)
    }
}

fn lock(kept: &Mutex<Kept>) -> MutexGuard<'_, Kept> {
    // A panicking holder of the lock has left no half change.
    kept.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Ends watchers without recent requests, until the table of watchers is dropped.
fn sweep(kept: &Weak<Mutex<Kept>>) {
    while let Some(kept) = kept.upgrade() {
        let gone: Vec<_> = lock(&kept).extract_if(|_, entry| entry.requested.elapsed() >= KEPT).collect();
        // A watcher's end is waited for, but not by those who ask others.
        drop(gone);
        drop(kept);
        std::thread::sleep(KEPT / 12);
    }
}
