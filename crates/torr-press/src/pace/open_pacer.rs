//! An open loop that an operator may steer.

use super::changes::Changes;
use super::open::OpenLoop;
use super::pacer::{Due, Pacer};
use crate::steering::{ChangeKind, Steering};
use torr_net::Nanos;

/// An open loop that may pause, and whose rate may change. A change is a further stage of its schedule.
#[derive(Debug)]
pub(crate) struct OpenPacer<'r> {
    requests: OpenLoop,
    changes: Option<Changes<'r>>,
    /// Since when no request is due.
    paused_from: Option<Nanos>,
}

impl<'r> OpenPacer<'r> {
    /// Returns the pacer of an open loop, with the operator's steering if there is one.
    pub fn new(requests: OpenLoop, steering: Option<&'r Steering>) -> Self {
        Self { requests, changes: steering.map(Changes::new), paused_from: None }
    }

    /// Looks for changes if it is time to.
    #[inline]
    fn look(&mut self, now: Nanos) {
        if self.changes.as_ref().is_some_and(|changes| changes.are_due(now)) {
            self.take_changes(now);
        }
    }

    /// Takes changes over before they have effect, so that each has effect at its time exactly.
    #[cold]
    fn take_changes(&mut self, now: Nanos) {
        let Some(changes) = &mut self.changes else { return };
        for change in changes.take(now, Nanos::MAX) {
            match change.kind {
                ChangeKind::Pause => self.paused_from = Some(change.at),
                ChangeKind::Resume => {
                    if let Some(from) = self.paused_from.take() {
                        self.requests.change_rate(from, change.at, 0.0);
                    }
                }
                ChangeKind::Rate(factor) => self.requests.change_rate(change.at, Nanos::MAX, factor),
                ChangeKind::Connections(_) => {}
            }
        }
    }
}

impl Pacer for OpenPacer<'_> {
    fn next(&mut self, now: Nanos) -> Due {
        self.look(now);
        let Some(next_look) = self.changes.as_ref().map(|changes| changes.next_look) else {
            return self.requests.next(now);
        };
        // What was due before a pause is still sent within it.
        let until = self.paused_from.map_or(now, |from| now.min(from));
        match self.requests.next(until) {
            Due::At(due) if due <= until => Due::At(due),
            Due::At(due) if self.paused_from.is_none_or(|from| due < from) => Due::Later(due.min(next_look)),
            Due::At(_) => Due::Later(next_look),
            Due::Later(end) => Due::Later(end.min(next_look)),
            other => other,
        }
    }

    fn take_overdue(&mut self, now: Nanos) -> Option<(Nanos, u64)> {
        self.look(now);
        self.requests.take_overdue(self.paused_from.map_or(now, |from| now.min(from)))
    }

    fn is_exhausted(&self, now: Nanos) -> bool {
        self.requests.is_exhausted(now)
    }

    fn request_ended(&mut self, now: Nanos) {
        self.requests.request_ended(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pace::open::Arrivals;
    use crate::pace::schedule::Schedule;
    use crate::steering::Steerable;
    use std::time::Duration;
    use torr_net::Clock;

    const SECOND: Nanos = 1_000_000_000;

    fn steering(steerable: Steerable) -> Steering {
        let steering = Steering::new(steerable, 10, Duration::ZERO);
        steering.begin(Clock::start());
        steering
    }

    /// The due times of a thread's requests up to a time, called every millisecond.
    fn due_until(pacer: &mut OpenPacer<'_>, from: Nanos, until: Nanos) -> Vec<Nanos> {
        let times = (from / 1_000_000..until / 1_000_000).map(|ms| ms * 1_000_000);
        times
            .flat_map(|now| {
                std::iter::from_fn(|| match pacer.next(now) {
                    Due::At(due) => Some(due),
                    _ => None,
                })
                .collect::<Vec<_>>()
            })
            .collect()
    }

    #[test]
    fn an_open_loop_has_no_request_in_a_pause_and_none_is_made_up_for() {
        let schedule = Schedule::constant(1000.0).unwrap();
        let steering = steering(Steerable::Rate(Some(1000.0)));
        let times = (0, 10 * SECOND);
        let open = OpenLoop::new(schedule, (Arrivals::Constant, Duration::ZERO), None, times, (0, 1), 7);
        let mut pacer = OpenPacer::new(open, Some(&steering));
        steering.toggle_pause();
        let from = steering.changes_from(0)[0].at;
        let before = due_until(&mut pacer, 0, 2 * SECOND);
        assert!(before.iter().all(|due| *due <= from) && before.len().abs_diff((from / 1_000_000) as usize) <= 1);
        steering.toggle_pause();
        let to = steering.changes_from(1)[0].at;
        let after = due_until(&mut pacer, 2 * SECOND, 3 * SECOND);
        assert!(after[0] >= to && after.is_sorted(), "{} is due before {to}", after[0]);
        let expected = (3 * SECOND - to) / 1_000_000;
        assert!(after.len().abs_diff(expected as usize) <= 2, "{} of {expected}", after.len());
    }

    #[test]
    fn a_raised_rate_holds_from_its_time_on() {
        let schedule = Schedule::constant(1000.0).unwrap();
        let steering = steering(Steerable::Rate(Some(1000.0)));
        let times = (0, 10 * SECOND);
        let open = OpenLoop::new(schedule, (Arrivals::Constant, Duration::ZERO), None, times, (0, 1), 7);
        let mut pacer = OpenPacer::new(open, Some(&steering));
        steering.raise();
        let from = steering.changes_from(0)[0].at;
        let all = due_until(&mut pacer, 0, 2 * SECOND);
        let expected = from as f64 / 1e6 + (2 * SECOND - from) as f64 / 1e6 * 1.1;
        assert!((all.len() as f64 - expected).abs() < 3.0, "{} of {expected}", all.len());
        assert!(all.is_sorted());
    }
}
