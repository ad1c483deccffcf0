//! The counts of one thread.

use crate::Sample;

/// The counts of one thread.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ThreadTotals {
    /// The number of connections established.
    pub opened: u64,
    /// The number of complete responses.
    pub answered: u64,
    /// The number of complete responses with a status of 400 or more.
    pub status_errors: u64,
    /// The number of requests that failed otherwise than by a status.
    pub failed: u64,
    /// The number of bytes received.
    pub received: u64,
    /// The number of bytes received that are content.
    pub body: u64,
    /// The time in nanoseconds in which the thread waited for events.
    pub idle: u64,
}

impl ThreadTotals {
    /// Adds a sample of the thread.
    pub(super) fn add(&mut self, sample: &Sample) {
        self.opened += sample.opened;
        self.answered += sample.answered.count();
        self.status_errors += sample.status_errors();
        self.failed += sample.failures.total();
        self.received = self.received.saturating_add(sample.received);
        self.body = self.body.saturating_add(sample.body);
        self.idle = self.idle.saturating_add(sample.idle);
    }
}
