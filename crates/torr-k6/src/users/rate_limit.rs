//! The option `rps`: the requests of all virtual users together are sent at a limited rate.

use std::sync::atomic::{AtomicU64, Ordering};
use torr_net::Nanos;

/// The number of nanoseconds of a second.
const SECOND: u64 = 1_000_000_000;

/// A limit of requests per second, which are spread evenly: one that comes early waits for its time.
#[derive(Debug)]
pub struct RateLimit {
    /// The time between two requests in nanoseconds.
    interval: Nanos,
    /// The time from which the next request may be sent.
    next: AtomicU64,
}

impl RateLimit {
    /// Returns a limit of so many requests per second; `None` if that is none.
    #[must_use]
    pub fn new(rate: u64) -> Option<Self> {
        let interval = SECOND.checked_div(rate).filter(|interval| *interval > 0)?;
        Some(Self { interval, next: AtomicU64::new(0) })
    }

    /// Takes the next place in the row of requests, and returns its time: now, or later.
    pub fn take(&self, now: Nanos) -> Nanos {
        let after = |next: u64| Some(next.max(now).saturating_add(self.interval));
        let before = self.next.fetch_update(Ordering::Relaxed, Ordering::Relaxed, after);
        before.unwrap_or_else(|next| next).max(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_that_come_early_wait_for_their_time() {
        let limit = RateLimit::new(4).expect("it is a limit");
        let times: Vec<_> = (0..3).map(|_| limit.take(1_000)).collect();
        assert_eq!(times, [1_000, 250_001_000, 500_001_000]);
        // After a time without requests none is made up for.
        assert_eq!([limit.take(SECOND), limit.take(SECOND)], [SECOND, SECOND + 250_000_000]);
        assert!(RateLimit::new(0).is_none() && RateLimit::new(u64::MAX).is_none());
    }
}
