//! When requests are due.

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

/// How many requests all threads together may still begin.
#[derive(Debug)]
pub struct Budget {
    left: AtomicU64,
    threads: u64,
}

impl Budget {
    /// `None` is without limit.
    pub(crate) fn new(requests: Option<u64>, threads: usize) -> Self {
        Self { left: AtomicU64::new(requests.unwrap_or(u64::MAX)), threads: threads as u64 }
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
    /// One thread's part of a run.
    pub fn new(budget: &'r Budget) -> Self {
        Self { budget, mine: 0 }
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
        for requests in [0, 1, 7, 1000, 12_345] {
            let budget = Budget::new(Some(requests), 3);
            let mut threads = [0; 3].map(|_| ClosedLoop::new(&budget));
            let mut begun = 0;
            while threads.iter_mut().any(|t| t.next(0) == Due::Free) {
                begun += 1;
            }
            assert_eq!(begun, requests);
        }
    }
}
