//! A closed loop with limits: of its rate, of the connections in use, and pauses.

use super::changes::Changes;
use super::closed::ClosedLoop;
use super::pacer::{Due, Pacer};
use super::schedule::Schedule;
use crate::steering::{ChangeKind, Steering};
use torr_net::Nanos;

/// The delay that a thread may make up for, in nanoseconds: about that of a wake-up on a shared CPU. After a long pause a
/// service does not get all requests of the pause at once.
const MAX_CATCH_UP: Nanos = 5_000_000;
/// The time in nanoseconds between two checks of how many connections a schedule has in use.
const SCHEDULE_STEP: Nanos = 5_000_000;

/// A closed loop with limits, each of which may be absent.
#[derive(Debug)]
pub(crate) struct LimitedLoop<'r> {
    requests: ClosedLoop<'r>,
    rate: Option<RateLimit>,
    connections: Option<ConnectionLimit<'r>>,
    changes: Option<Changes<'r>>,
    paused: bool,
    /// The number of slots in use.
    in_use: u64,
    /// The number of this thread, and of how many.
    part: (u64, u64),
}

/// A limit of the rate: requests are spaced evenly.
#[derive(Debug)]
struct RateLimit {
    gap: Nanos,
    /// The time of the next request.
    next: Nanos,
}

/// A limit of the slots in use at a time.
#[derive(Debug)]
enum ConnectionLimit<'r> {
    /// As many connections as a schedule has after the warm-up, each with `depth` slots.
    Scheduled { schedule: &'r Schedule, warm_until: Nanos, depth: u64 },
    /// As many connections as an operator wants, of this thread's.
    Steered(u64),
}

impl<'r> LimitedLoop<'r> {
    /// Returns the part of a thread, which is given by its number and the number of all, without limits.
    pub fn new(requests: ClosedLoop<'r>, part: (u64, u64)) -> Self {
        Self { requests, rate: None, connections: None, changes: None, paused: false, in_use: 0, part }
    }

    /// Returns the loop with this highest rate of all threads.
    #[must_use]
    pub fn with_rate(self, rate: f64) -> Self {
        let (thread, threads) = self.part;
        let nanos = |requests: u64| (requests as f64 * 1e9 / rate).ceil() as Nanos;
        Self { rate: Some(RateLimit { gap: nanos(threads), next: nanos(thread) }), ..self }
    }

    /// Returns the loop with as many connections as a schedule has, counted from the end of the warm-up.
    #[must_use]
    pub fn with_connections(self, schedule: &'r Schedule, warm_until: Nanos, depth: u16) -> Self {
        let connections = ConnectionLimit::Scheduled { schedule, warm_until, depth: depth.into() };
        Self { connections: Some(connections), ..self }
    }

    /// Returns the loop with the pauses of a steering, and its connections where they can be changed.
    #[must_use]
    pub fn with_steering(self, steering: &'r Steering) -> Self {
        let steered = || ConnectionLimit::Steered(dealt_out(steering.state().connections as u64, self.part));
        let connections = if steering.has_connections() { Some(steered()) } else { self.connections };
        Self { connections, changes: Some(Changes::new(steering)), ..self }
    }

    #[cold]
    fn take_changes(&mut self, now: Nanos) {
        let Some(changes) = &mut self.changes else { return };
        for change in changes.take(now, now) {
            match change.kind {
                ChangeKind::Pause => self.paused = true,
                ChangeKind::Resume => self.paused = false,
                ChangeKind::Connections(connections) => {
                    self.connections = Some(ConnectionLimit::Steered(dealt_out(connections as u64, self.part)));
                }
                ChangeKind::Rate(_) => {}
            }
        }
    }

    /// Returns the number of slots that may be in use.
    fn allowed(&self, now: Nanos) -> u64 {
        match &self.connections {
            None => u64::MAX,
            Some(ConnectionLimit::Steered(connections)) => *connections,
            Some(ConnectionLimit::Scheduled { schedule, warm_until, depth }) => {
                // While warming up as many as the first stage begins with.
                let all = schedule.rate_at(now.saturating_sub(*warm_until)).round() as u64;
                dealt_out(all, self.part) * depth
            }
        }
    }
}

/// Returns how many of so many connections thread `thread` of `threads` has, to which they are distributed in turn.
fn dealt_out(connections: u64, (thread, threads): (u64, u64)) -> u64 {
    (connections + threads - 1 - thread) / threads
}

impl Pacer for LimitedLoop<'_> {
    fn next(&mut self, now: Nanos) -> Due {
        if self.changes.as_ref().is_some_and(|changes| changes.are_due(now)) {
            self.take_changes(now);
        }
        let next_look = self.changes.as_ref().map(|changes| changes.next_look);
        if let Some(next_look) = next_look.filter(|_| self.paused) {
            return Due::Later(next_look);
        }
        if let Some(rate) = self.rate.as_ref().filter(|rate| now < rate.next) {
            return Due::Later(rate.next);
        }
        if self.in_use >= self.allowed(now) {
            return Due::NotBefore(next_look.unwrap_or(now + SCHEDULE_STEP));
        }
        let due = self.requests.next(now);
        if due == Due::Immediately {
            self.in_use += 1;
            if let Some(rate) = &mut self.rate {
                rate.next = rate.next.max(now.saturating_sub(MAX_CATCH_UP)).saturating_add(rate.gap);
            }
        }
        due
    }

    fn is_exhausted(&self, now: Nanos) -> bool {
        self.requests.is_exhausted(now)
    }

    fn request_ended(&mut self, _now: Nanos) {
        self.in_use -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pace::closed::Budget;
    use crate::steering::{LOOK, Steerable};
    use std::ops::Range;
    use std::time::Duration;
    use torr_net::Clock;

    const MS: Nanos = 1_000_000;
    const SECOND: Nanos = 1000 * MS;

    /// Returns a thread's part of 1,000 requests per second.
    fn limited(budget: &Budget, slots: Range<usize>, warm_until: Nanos, part: (u64, u64)) -> LimitedLoop<'_> {
        LimitedLoop::new(ClosedLoop::new(budget, &slots, warm_until), part).with_rate(1000.0)
    }

    /// Returns the number of requests that a thread begins at a time.
    fn begun(pacer: &mut LimitedLoop<'_>, now: Nanos) -> usize {
        (0..1000).take_while(|_| pacer.next(now) == Due::Immediately).count()
    }

    #[test]
    fn threads_take_turns_and_late_wake_ups_cost_nothing() {
        let budget = Budget::new(None, 0, 2);
        let threads = [0, 1].map(|thread| limited(&budget, 0..0, 0, (thread, 2)));
        let [mut first, mut second] = threads;
        assert_eq!((first.next(0), second.next(0)), (Due::Immediately, Due::Later(MS)));
        assert_eq!((first.next(MS), second.next(MS)), (Due::Later(2 * MS), Due::Immediately));
        // Called at odd times, for a second.
        let late: usize = (1..=1430).map(|n| begun(&mut first, n * 700_000) + begun(&mut second, n * 700_000)).sum();
        assert_eq!(late + 2, 1002, "in 1.001 seconds, with one at the beginning");
    }

    #[test]
    fn what_a_pause_held_back_does_not_come_at_once() {
        let budget = Budget::new(None, 0, 1);
        let mut pacer = limited(&budget, 0..0, 0, (0, 1));
        assert_eq!(begun(&mut pacer, 0), 1);
        assert_eq!(begun(&mut pacer, 2000 * MS), 6, "five milliseconds' requests, and one");
        assert_eq!(begun(&mut pacer, 2001 * MS), 1);
    }

    #[test]
    fn the_budget_and_the_warm_up_are_those_of_the_loop() {
        let budget = Budget::new(Some(2), 1, 1);
        let mut pacer = limited(&budget, 0..1, 10 * MS, (0, 1));
        assert_eq!((0..10).map(|ms| begun(&mut pacer, ms * MS)).sum::<usize>(), 10, "it holds for the warm-up too");
        assert_eq!((10..20).map(|ms| begun(&mut pacer, ms * MS)).sum::<usize>(), 2);
        assert!(pacer.is_exhausted(20 * MS) && pacer.next(20 * MS) == Due::Never);
    }

    #[test]
    fn a_ramp_deals_its_connections_out_to_all_threads() {
        let s = Duration::from_secs;
        let schedule = Schedule::stages(&[(s(10), 100.0), (s(10), 0.0)]).unwrap();
        let budget = Budget::new(None, 100, 3);
        let mut threads = [0, 1, 2].map(|thread| {
            LimitedLoop::new(ClosedLoop::new(&budget, &(0..0), 0), (thread, 3)).with_connections(&schedule, 0, 1)
        });
        for (second, expected) in [(0, 0), (1, 10), (5, 50), (10, 100), (19, 10)] {
            let now = second * SECOND;
            let active: u64 = threads
                .iter_mut()
                .map(|t| {
                    while t.in_use > t.allowed(now) {
                        t.request_ended(now);
                    }
                    while t.next(now) == Due::Immediately {}
                    t.in_use
                })
                .sum();
            assert_eq!(active, expected, "after {second} s");
        }
    }

    #[test]
    fn a_closed_loop_pauses_and_changes_its_connections() {
        let steering = Steering::new(Steerable::Connections { planned: 10, least: 2, most: 40 }, 10, Duration::ZERO);
        steering.begin(Clock::start());
        let budget = Budget::new(None, 80, 2);
        let requests = ClosedLoop::new(&budget, &(0..20), 0);
        let mut pacer = LimitedLoop::new(requests, (1, 2)).with_steering(&steering);
        assert_eq!(begun(&mut pacer, 0), 5, "its half of ten");
        steering.raise();
        assert_eq!(begun(&mut pacer, SECOND), 0, "five and a half are five for the second thread");
        steering.raise();
        assert_eq!(begun(&mut pacer, 2 * SECOND), 1, "of 13");
        (0..6).for_each(|_| pacer.request_ended(2 * SECOND));
        steering.toggle_pause();
        assert_eq!(begun(&mut pacer, 3 * SECOND), 0);
        assert_eq!(pacer.next(3 * SECOND), Due::Later(3 * SECOND + LOOK), "connections stay open");
        steering.toggle_pause();
        assert_eq!(begun(&mut pacer, 4 * SECOND), 6);
    }
}
