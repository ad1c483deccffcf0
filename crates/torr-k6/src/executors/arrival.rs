//! The iterations of an arrival rate: handed out before they are due, dropped if no virtual user was idle.

use super::schedule::Schedule;
use torr_net::Nanos;

/// The iterations of a scenario with an arrival rate.
#[derive(Debug)]
pub(super) struct Arrival {
    schedule: Schedule,
    /// The first iteration that no virtual user has taken and that was not dropped.
    next: u64,
    /// The number of virtual users that wait for an iteration of their own.
    pub waiting: usize,
    /// The number of virtual users that may still be created.
    pub unplanned: u64,
    /// Whether a virtual user is being created.
    pub is_creating: bool,
    /// Whether the warning about too few virtual users was given.
    pub has_warned: bool,
    /// Whether a timer looks for dropped iterations.
    pub is_watched: bool,
}

impl Arrival {
    /// Returns the iterations of a schedule.
    pub(super) fn new(schedule: Schedule, unplanned: u64) -> Self {
        Self { schedule, next: 0, waiting: 0, unplanned, is_creating: false, has_warned: false, is_watched: false }
    }

    /// Returns when the iteration is due that an idle virtual user takes; `None` if none is left. Those that are due before
    /// `now` must have been dropped.
    pub(super) fn take(&mut self) -> Option<Nanos> {
        let due = self.next_due()?;
        self.next += 1;
        self.waiting += 1;
        Some(due)
    }

    /// Returns when the next iteration is due that no virtual user has taken.
    pub(super) fn next_due(&self) -> Option<Nanos> {
        (self.next < self.schedule.total()).then(|| self.schedule.due(self.next))
    }

    /// Drops the iterations that became due before a time while no virtual user was idle, and returns their number.
    pub(super) fn drop_before(&mut self, time: Nanos) -> u64 {
        let first = self.schedule.first_at(self.next, time);
        first - std::mem::replace(&mut self.next, first)
    }

    /// Drops all iterations that are left, and returns their number.
    pub(super) fn drop_all(&mut self) -> u64 {
        let total = self.schedule.total().max(self.next);
        total - std::mem::replace(&mut self.next, total)
    }
}
