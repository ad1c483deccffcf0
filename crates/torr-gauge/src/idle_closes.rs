//! Requests that met the close of an idle connection by the server.

use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Requests that were sent on connections at the time at which the server closed them because they were idle. Such a request
/// fails although the service is well.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct IdleCloses {
    /// The number of requests.
    pub requests: u64,
    /// The shortest time in milliseconds for which one of the connections had been idle.
    pub shortest_ms: u64,
    /// The longest such time in milliseconds.
    pub longest_ms: u64,
}

impl IdleCloses {
    /// Records requests on a connection that was idle for so long.
    pub fn record(&mut self, requests: u64, idle: Duration) {
        let ms = idle.as_millis() as u64;
        self.add(&Self { requests, shortest_ms: ms, longest_ms: ms });
    }

    /// Adds those of another sample.
    pub fn add(&mut self, other: &Self) {
        let both = [*self, *other].into_iter().filter(|closes| closes.requests > 0);
        self.shortest_ms = both.clone().map(|closes| closes.shortest_ms).min().unwrap_or(0);
        self.longest_ms = both.map(|closes| closes.longest_ms).max().unwrap_or(0);
        self.requests += other.requests;
    }

    /// Returns the counts, if there are any.
    pub fn any(self) -> Option<Self> {
        (self.requests > 0).then_some(self)
    }

    /// Returns the server's time-out in milliseconds for idle connections, if the times are so near each other that it is the
    /// likely cause.
    pub fn timeout_ms(&self) -> Option<u64> {
        // A request meets the close only within a round trip; the kernel's ticks add up to 10 ms at each end.
        (self.longest_ms <= self.shortest_ms + self.shortest_ms / 4 + 40).then_some(self.shortest_ms)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shortest_and_the_longest_time_are_kept() {
        let mut all = IdleCloses::default();
        assert_eq!((all.any(), all.timeout_ms()), (None, Some(0)));
        all.add(&IdleCloses::default());
        all.record(1, Duration::from_millis(204));
        all.record(2, Duration::from_micros(200_900));
        assert_eq!(all.any(), Some(IdleCloses { requests: 3, shortest_ms: 200, longest_ms: 204 }));
        assert_eq!(all.timeout_ms(), Some(200));
        all.record(1, Duration::from_secs(2));
        assert_eq!((all.requests, all.timeout_ms()), (4, None), "such different times are not those of one time-out");
    }
}
