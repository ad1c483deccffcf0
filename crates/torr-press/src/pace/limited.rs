//! A closed loop with a rate limit.

use super::pacer::{Due, Pacer};
use torr_net::Nanos;

/// The delay that a thread may make up for, in nanoseconds: about that of a wake-up on a shared CPU. After a long pause a
/// service does not get all requests of the pause at once.
const MAX_CATCH_UP: Nanos = 5_000_000;

/// Another pacer, whose requests are spaced evenly and limited in rate.
#[derive(Debug)]
pub(crate) struct Limited<P> {
    requests: P,
    gap: Nanos,
    /// The time of the next request.
    next: Nanos,
}

impl<P> Limited<P> {
    /// The part of thread `thread` of `threads` of `rate` requests per second.
    pub fn new(requests: P, rate: f64, (thread, threads): (u64, u64)) -> Self {
        let nanos = |requests: u64| (requests as f64 * 1e9 / rate).ceil() as Nanos;
        Self { requests, gap: nanos(threads), next: nanos(thread) }
    }
}

impl<P: Pacer> Pacer for Limited<P> {
    fn next(&mut self, now: Nanos) -> Due {
        if now < self.next {
            return Due::Later(self.next);
        }
        let due = self.requests.next(now);
        if due == Due::Immediately {
            self.next = self.next.max(now.saturating_sub(MAX_CATCH_UP)).saturating_add(self.gap);
        }
        due
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

    const MS: Nanos = 1_000_000;

    /// Returns the number of requests that a thread begins at a time.
    fn begun(pacer: &mut Limited<ClosedLoop<'_>>, now: Nanos) -> usize {
        (0..1000).take_while(|_| pacer.next(now) == Due::Immediately).count()
    }

    #[test]
    fn threads_take_turns_and_late_wake_ups_cost_nothing() {
        let budget = Budget::new(None, 0, 2);
        let threads = [0, 1].map(|thread| Limited::new(ClosedLoop::new(&budget, &(0..0), 0), 1000.0, (thread, 2)));
        let [mut first, mut second] = threads;
        assert_eq!((first.next(0), second.next(0)), (Due::Immediately, Due::Later(MS)));
        assert_eq!((first.next(MS), second.next(MS)), (Due::Later(2 * MS), Due::Immediately));
        // InFlight at odd times, for a second.
        let late: usize = (1..=1430).map(|n| begun(&mut first, n * 700_000) + begun(&mut second, n * 700_000)).sum();
        assert_eq!(late + 2, 1002, "in 1.001 seconds, with one at the beginning");
    }

    #[test]
    fn what_a_pause_held_back_does_not_come_at_once() {
        let budget = Budget::new(None, 0, 1);
        let mut pacer = Limited::new(ClosedLoop::new(&budget, &(0..0), 0), 1000.0, (0, 1));
        assert_eq!(begun(&mut pacer, 0), 1);
        assert_eq!(begun(&mut pacer, 2000 * MS), 6, "five milliseconds' requests, and one");
        assert_eq!(begun(&mut pacer, 2001 * MS), 1);
    }

    #[test]
    fn the_budget_and_the_warm_up_are_those_of_the_loop() {
        let budget = Budget::new(Some(2), 1, 1);
        let mut pacer = Limited::new(ClosedLoop::new(&budget, &(0..1), 10 * MS), 1000.0, (0, 1));
        assert_eq!((0..10).map(|ms| begun(&mut pacer, ms * MS)).sum::<usize>(), 10, "it holds for the warm-up too");
        assert_eq!((10..20).map(|ms| begun(&mut pacer, ms * MS)).sum::<usize>(), 2);
        assert!(pacer.is_exhausted(20 * MS) && pacer.next(20 * MS) == Due::Never);
    }
}
