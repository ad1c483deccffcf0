//! The pacers of a run that an operator steers. They wrap the pacer of the plan.

use super::closed::dealt_out;
use super::open::OpenLoop;
use super::pacer::{Due, Pacer};
use crate::steering::{ChangeKind, LOOK, Steering};
use torr_net::Nanos;

/// A closed loop that pauses, and whose connections may change.
#[derive(Debug)]
pub(crate) struct SteeredClosed<'r, P> {
    requests: P,
    steering: &'r Steering,
    seen: usize,
    next_look: Nanos,
    paused: bool,
    /// The number of slots that may be in use at a time; without limit where connections cannot be changed.
    allowed: u64,
    in_use: u64,
    /// The number of this thread, and of how many.
    part: (u64, u64),
}

impl<'r, P> SteeredClosed<'r, P> {
    /// Returns the part of a thread, which is given by its number and the number of all.
    pub fn new(requests: P, steering: &'r Steering, part: (u64, u64)) -> Self {
        let mut pacer =
            Self { requests, steering, seen: 0, next_look: 0, paused: false, allowed: u64::MAX, in_use: 0, part };
        if steering.has_connections() {
            pacer.allowed = dealt_out(steering.state().connections as u64, pacer.part);
        }
        pacer
    }

    #[cold]
    fn look(&mut self, now: Nanos) {
        self.next_look = now + LOOK;
        let changes = self.steering.changes_from(self.seen);
        for change in changes.iter().take_while(|change| change.at <= now) {
            self.seen += 1;
            match change.kind {
                ChangeKind::Pause => self.paused = true,
                ChangeKind::Resume => self.paused = false,
                ChangeKind::Connections(connections) => self.allowed = dealt_out(connections as u64, self.part),
                ChangeKind::Rate(_) => {}
            }
        }
    }
}

impl<P: Pacer> Pacer for SteeredClosed<'_, P> {
    fn next(&mut self, now: Nanos) -> Due {
        if now >= self.next_look {
            self.look(now);
        }
        if self.paused {
            return Due::Later(self.next_look);
        }
        if self.in_use >= self.allowed {
            return Due::NotBefore(self.next_look);
        }
        let due = self.requests.next(now);
        self.in_use += u64::from(due == Due::Immediately);
        due
    }

    fn is_exhausted(&self, now: Nanos) -> bool {
        self.requests.is_exhausted(now)
    }

    fn request_ended(&mut self, now: Nanos) {
        self.in_use -= 1;
        self.requests.request_ended(now);
    }
}

/// An open loop that pauses, and whose rate may change. A change is a further stage of its schedule.
#[derive(Debug)]
pub(crate) struct SteeredOpen<'r> {
    requests: OpenLoop,
    steering: &'r Steering,
    seen: usize,
    next_look: Nanos,
    /// Since when no request is due.
    paused_from: Option<Nanos>,
}

impl<'r> SteeredOpen<'r> {
    pub fn new(requests: OpenLoop, steering: &'r Steering) -> Self {
        Self { requests, steering, seen: 0, next_look: 0, paused_from: None }
    }

    /// Takes changes over before they have effect, so that each has effect at its time exactly.
    #[cold]
    fn look(&mut self, now: Nanos) {
        self.next_look = now + LOOK;
        for change in self.steering.changes_from(self.seen) {
            self.seen += 1;
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

impl Pacer for SteeredOpen<'_> {
    fn next(&mut self, now: Nanos) -> Due {
        if now >= self.next_look {
            self.look(now);
        }
        // What was due before a pause is still sent within it.
        let until = self.paused_from.map_or(now, |from| now.min(from));
        match self.requests.next(until) {
            Due::At(due) if due <= until => Due::At(due),
            Due::At(due) if self.paused_from.is_none_or(|from| due < from) => Due::Later(due.min(self.next_look)),
            Due::At(_) => Due::Later(self.next_look),
            Due::Later(end) => Due::Later(end.min(self.next_look)),
            other => other,
        }
    }

    fn take_overdue(&mut self, now: Nanos) -> Option<(Nanos, u64)> {
        if now >= self.next_look {
            self.look(now);
        }
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
    use crate::pace::closed::{Budget, ClosedLoop};
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

    /// Begins what may begin at a time, and returns how many that were.
    fn begin(pacer: &mut impl Pacer, now: Nanos) -> usize {
        (0..1000).take_while(|_| pacer.next(now) == Due::Immediately).count()
    }

    #[test]
    fn a_closed_loop_pauses_and_changes_its_connections() {
        let steering = steering(Steerable::Connections { planned: 10, least: 2, most: 40 });
        let budget = Budget::new(None, 80, 2);
        let requests = ClosedLoop::new(&budget, &(0..20), 0);
        let mut pacer = SteeredClosed::new(requests, &steering, (1, 2));
        assert_eq!(begin(&mut pacer, 0), 5, "its half of ten");
        steering.raise();
        assert_eq!(begin(&mut pacer, SECOND), 0, "five and a half are five for the second thread");
        steering.raise();
        assert_eq!(begin(&mut pacer, 2 * SECOND), 1, "of 13");
        (0..6).for_each(|_| pacer.request_ended(2 * SECOND));
        steering.toggle_pause();
        assert_eq!(begin(&mut pacer, 3 * SECOND), 0);
        assert_eq!(pacer.next(3 * SECOND), Due::Later(3 * SECOND + LOOK), "connections stay open");
        steering.toggle_pause();
        assert_eq!(begin(&mut pacer, 4 * SECOND), 6);
    }

    /// The due times of a thread's requests up to a time, called every millisecond.
    fn due_until(pacer: &mut SteeredOpen<'_>, from: Nanos, until: Nanos) -> Vec<Nanos> {
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
        let mut pacer = SteeredOpen::new(open, &steering);
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
        let mut pacer = SteeredOpen::new(open, &steering);
        steering.raise();
        let from = steering.changes_from(0)[0].at;
        let all = due_until(&mut pacer, 0, 2 * SECOND);
        let expected = from as f64 / 1e6 + (2 * SECOND - from) as f64 / 1e6 * 1.1;
        assert!((all.len() as f64 - expected).abs() < 3.0, "{} of {expected}", all.len());
        assert!(all.is_sorted());
    }
}
