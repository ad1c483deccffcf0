//! The upgrade of a connection of HTTP/1.1.

use std::sync::atomic::{AtomicU8, Ordering};

/// hyper sees one request.
const NONE: u8 = 0;
/// The response turns the connection into something else: hyper sees what follows the request.
const ACCEPTED: u8 = 1;
/// The response has been sent, and the connection belongs to the application's upgrade handler.
const DONE: u8 = 2;

/// The progress of a connection's upgrade. It is atomic, since hyper requires `Send` and `Sync` of a connection that
/// may be upgraded.
#[derive(Default)]
pub(super) struct Upgrade(AtomicU8);

impl Upgrade {
    /// Notes that the response upgrades the connection.
    pub fn accept(&self) {
        self.0.store(ACCEPTED, Ordering::Release);
    }

    /// Notes that hyper is done with the connection, if the response has upgraded it.
    pub fn complete(&self) {
        let _ = self.0.compare_exchange(ACCEPTED, DONE, Ordering::AcqRel, Ordering::Relaxed);
    }

    /// Whether the response upgrades the connection.
    pub fn is_accepted(&self) -> bool {
        self.0.load(Ordering::Acquire) != NONE
    }

    /// Whether the connection belongs to the application's upgrade handler.
    pub fn is_complete(&self) -> bool {
        self.0.load(Ordering::Acquire) == DONE
    }
}
