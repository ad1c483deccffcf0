//! What an operator changes, as the pacer of a thread takes it over.

use crate::steering::{Change, LOOK, Steering};
use torr_net::Nanos;

/// The changes of a steering that a pacer has not taken over.
#[derive(Debug)]
pub(super) struct Changes<'r> {
    steering: &'r Steering,
    /// The number of changes that were taken over.
    seen: usize,
    /// The time at which the pacer looks for changes again.
    pub next_look: Nanos,
}

impl<'r> Changes<'r> {
    pub fn new(steering: &'r Steering) -> Self {
        Self { steering, seen: 0, next_look: 0 }
    }

    /// Whether it is time to look for changes.
    #[inline]
    pub fn are_due(&self, now: Nanos) -> bool {
        now >= self.next_look
    }

    /// Takes the changes that have effect at the time `until` or before it.
    pub fn take(&mut self, now: Nanos, until: Nanos) -> impl Iterator<Item = Change> + use<> {
        self.next_look = now + LOOK;
        let changes = self.steering.changes_from(self.seen);
        let taken = changes.iter().take_while(|change| change.at <= until).count();
        self.seen += taken;
        changes.into_iter().take(taken)
    }
}
