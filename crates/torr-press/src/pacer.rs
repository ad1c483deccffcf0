//! When requests are due.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use torr_net::Nanos;

/// The pace of one thread.
pub trait Pacer {
    /// A connection is free: when is the next request due on it? Unless the answer lies in the future, that request is
    /// thereby begun and will not be asked for again.
    fn next(&mut self, now: Nanos) -> Due;

    /// A request has come to its end, answered or not.
    fn ended(&mut self, now: Nanos);
}

/// When the next request is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Due {
    /// As soon as it can be sent: its clock starts with the sending. This is what makes a closed loop.
    Free,
    /// At this time, past or future, whatever the service does: its clock starts then.
    At(Nanos),
    /// Never: all requests have been begun.
    Never,
}

/// The requests that may be begun, shared by all threads.
#[derive(Debug)]
pub struct Budget {
    /// Without limit: as many as can be counted.
    requests: u64,
    /// What no thread has taken yet.
    left: AtomicU64,
    threads: u64,
}

impl Budget {
    /// One request is set aside for each connection, as far as there are enough, so that each comes to be used.
    pub(crate) fn new(requests: Option<u64>, connections: usize, threads: usize) -> Self {
        let requests = requests.unwrap_or(u64::MAX);
        let left = AtomicU64::new(requests.saturating_sub(connections as u64));
        Self { requests, left, threads: threads as u64 }
    }

    /// Takes a share for one thread: many at a time as long as there are many, so that threads seldom meet here, and
    /// few towards the end, so that they end together.
    fn take(&self) -> u64 {
        let share = |left: u64| left.min((left / (4 * self.threads)).clamp(1, 256));
        self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| Some(left - share(left))).map_or(0, share)
    }
}

/// Each connection sends its next request as soon as the one before has ended.
#[derive(Debug)]
pub struct ClosedLoop<'r> {
    budget: &'r Budget,
    mine: u64,
}

impl<'r> ClosedLoop<'r> {
    /// The part of a run of the thread that has the connections of these numbers.
    pub(crate) fn new(budget: &'r Budget, connections: &Range<usize>) -> Self {
        let set_aside = connections.clone().filter(|&number| (number as u64) < budget.requests).count();
        Self { budget, mine: set_aside as u64 }
    }
}

impl Pacer for ClosedLoop<'_> {
    #[inline]
    fn next(&mut self, _now: Nanos) -> Due {
        if self.mine == 0 {
            self.mine = self.budget.take();
        }
        if self.mine == 0 {
            return Due::Never;
        }
        self.mine -= 1;
        Due::Free
    }

    #[inline]
    fn ended(&mut self, _now: Nanos) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exactly_the_budget_is_begun() {
        for requests in [0, 1, 7, 10, 11, 1000, 12_345] {
            let budget = Budget::new(Some(requests), 10, 3);
            let mut threads = [0..4, 4..7, 7..10].map(|numbers| ClosedLoop::new(&budget, &numbers));
            let mut begun = 0;
            while threads.iter_mut().any(|t| t.next(0) == Due::Free) {
                begun += 1;
            }
            assert_eq!(begun, requests);
        }
    }
}
