//! Requests as soon as the ones before have ended.

use super::pacer::{Due, Pacer};
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use torr_net::Nanos;

/// The requests that may be begun, shared by all threads.
#[derive(Debug)]
pub struct Budget {
    /// The number of requests of the run; `u64::MAX` without limit.
    requests: u64,
    /// The number that no thread has taken.
    left: AtomicU64,
    threads: u64,
}

impl Budget {
    /// Returns a budget in which one request is set aside for each slot, as far as there are enough, so that each is used.
    pub(crate) fn new(requests: Option<u64>, slots: usize, threads: usize) -> Self {
        let requests = requests.unwrap_or(u64::MAX);
        let left = AtomicU64::new(requests.saturating_sub(slots as u64));
        Self { requests, left, threads: threads as u64 }
    }

    /// Takes a share for one thread: many at a time as long as there are many, so that threads seldom meet here, and
    /// few towards the end, so that they end together.
    fn take(&self) -> u64 {
        let share = |left: u64| left.min((left / (4 * self.threads)).clamp(1, 256));
        self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| Some(left - share(left))).map_or(0, share)
    }
}

/// A closed loop: each slot sends its next request as soon as the one before has ended.
#[derive(Debug)]
pub struct ClosedLoop<'r> {
    budget: &'r Budget,
    mine: u64,
    /// The end of the warm-up, whose requests do not count.
    warm_until: Nanos,
}

impl<'r> ClosedLoop<'r> {
    /// Returns the part of the thread that has the slots of these numbers.
    pub(crate) fn new(budget: &'r Budget, slots: &Range<usize>, warm_until: Nanos) -> Self {
        let set_aside = slots.clone().filter(|&number| (number as u64) < budget.requests).count();
        Self { budget, mine: set_aside as u64, warm_until }
    }
}

impl Pacer for ClosedLoop<'_> {
    #[inline]
    fn next(&mut self, now: Nanos) -> Due {
        if now < self.warm_until {
            return Due::Immediately;
        }
        if self.mine == 0 {
            self.mine = self.budget.take();
        }
        if self.mine == 0 {
            return Due::Never;
        }
        self.mine -= 1;
        Due::Immediately
    }

    fn is_exhausted(&self, now: Nanos) -> bool {
        now >= self.warm_until && self.mine == 0 && self.budget.left.load(Ordering::Relaxed) == 0
    }

    #[inline]
    fn request_ended(&mut self, _now: Nanos) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exactly_the_budget_is_begun() {
        for requests in [0, 1, 7, 10, 11, 1000, 12_345] {
            let budget = Budget::new(Some(requests), 10, 3);
            let mut threads = [0..4, 4..7, 7..10].map(|numbers| ClosedLoop::new(&budget, &numbers, 0));
            let mut begun = 0;
            while threads.iter_mut().any(|t| t.next(0) == Due::Immediately) {
                begun += 1;
            }
            assert_eq!(begun, requests);
        }
    }

    #[test]
    fn a_warm_up_costs_nothing_of_the_budget() {
        let budget = Budget::new(Some(2), 1, 1);
        let mut pacer = ClosedLoop::new(&budget, &(0..1), 100);
        assert!((0..10).all(|now| pacer.next(now) == Due::Immediately));
        assert_eq!([100, 101, 102].map(|now| pacer.next(now)), [Due::Immediately, Due::Immediately, Due::Never]);
    }
}
