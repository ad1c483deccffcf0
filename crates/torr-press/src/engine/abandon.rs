//! Requests of an open loop that were due too long ago: they are not sent, as users who have waited too long are gone.

use super::Engine;
use super::coordinator::Coordinator;
use crate::failures;
use crate::pace::pacer::Pacer;
use crate::protocol::Protocol;
use std::time::Duration;
use torr_net::{Nanos, clock};

impl<P: Protocol, A: Pacer, C: Coordinator> Engine<'_, P, A, C> {
    /// Returns whether a request that was due at a time has waited for a slot for longer than the plan allows.
    #[inline]
    pub(super) fn is_abandoned(&self, due: Nanos, now: Nanos) -> bool {
        self.plan.patience.is_some_and(|within| now.saturating_sub(due) > clock::nanos(within))
    }

    /// Abandons all requests that have waited for a slot for longer than the plan allows.
    pub(super) fn abandon_late(&mut self, now: Nanos) {
        let latest = self.plan.patience.and_then(|within| now.checked_sub(clock::nanos(within) + 1));
        let Some(latest) = latest else { return };
        while let Some((due, count)) = self.pacer.take_overdue(latest) {
            self.give_up(due, count, now);
        }
    }

    /// Fails requests that were due at about the same time, and have no slot.
    #[cold]
    pub(super) fn give_up(&mut self, due: Nanos, count: u64, now: Nanos) {
        let patience = self.plan.patience.unwrap_or(Duration::ZERO);
        self.recorder.abandoned(due, count, failures::abandoned_after(patience), now);
        self.count_abandoned_sessions(due, count);
    }
}
