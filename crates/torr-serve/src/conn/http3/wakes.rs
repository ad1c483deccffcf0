//! Wake-ups of connections by handlers and bodies, which may run on any thread.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Wake, Waker};
use tokio::sync::Notify;

/// The connections of a worker that were woken.
#[derive(Debug, Default)]
pub(super) struct Wakes {
    keys: Mutex<Vec<Arc<ConnectionWake>>>,
    notify: Notify,
}

/// The waker of one connection.
#[derive(Debug)]
struct ConnectionWake {
    key: usize,
    is_queued: AtomicBool,
    wakes: Arc<Wakes>,
}

impl Wakes {
    /// Returns the waker of a connection.
    pub fn waker(self: &Arc<Self>, key: usize) -> Waker {
        Arc::new(ConnectionWake { key, is_queued: AtomicBool::new(false), wakes: Arc::clone(self) }).into()
    }

    /// Waits until a connection was woken.
    pub async fn woken(&self) {
        self.notify.notified().await;
    }

    /// Calls `see` with the key of each connection that was woken.
    pub fn take(&self, mut see: impl FnMut(usize)) {
        let woken = std::mem::take(&mut *self.keys.lock().unwrap_or_else(PoisonError::into_inner));
        for wake in woken {
            wake.is_queued.store(false, Ordering::Release);
            see(wake.key);
        }
    }
}

impl Wake for ConnectionWake {
    fn wake(self: Arc<Self>) {
        if !self.is_queued.swap(true, Ordering::AcqRel) {
            let wakes = Arc::clone(&self.wakes);
            wakes.keys.lock().unwrap_or_else(PoisonError::into_inner).push(self);
            wakes.notify.notify_one();
        }
    }
}
