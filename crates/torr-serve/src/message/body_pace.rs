//! The pace at which a client has to send content that is streamed: a byte now and then must not hold a request for ever.

use crate::settings::Settings;
use std::time::Duration;

/// The time that a client has for its content. Only time counts in which the server could receive.
#[derive(Debug, Clone)]
pub(crate) struct BodyPace {
    timeout: Duration,
    /// The lowest mean rate in bytes per second; 0 is none.
    rate: u64,
    received: u64,
    waited: Duration,
}

impl BodyPace {
    /// Returns the pace that the settings demand, before the first byte.
    pub fn new(settings: &Settings) -> Self {
        let (timeout, rate) = (settings.body_timeout, settings.min_body_rate);
        Self { timeout, rate, received: 0, waited: Duration::ZERO }
    }

    /// Counts bytes that have been received.
    pub fn receive(&mut self, bytes: u64) {
        self.received = self.received.saturating_add(bytes);
    }

    /// Counts a time for which the client was waited for.
    pub fn wait(&mut self, time: Duration) {
        self.waited = self.waited.saturating_add(time);
    }

    /// Returns the time that the client has for its next bytes. Where the response `has_begun`, both sides may be talking, so that
    /// only the pause counts.
    pub fn left(&self, has_begun: bool) -> Duration {
        if self.rate == 0 || has_begun {
            return self.timeout;
        }
        let earned = Duration::from_secs(self.received / self.rate);
        self.timeout.min(self.timeout.saturating_add(earned).saturating_sub(self.waited))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pace(rate: u64) -> BodyPace {
        BodyPace { timeout: Duration::from_secs(60), rate, received: 0, waited: Duration::ZERO }
    }

    #[test]
    fn a_byte_now_and_then_has_the_time_of_one_pause() {
        let mut pace = pace(240);
        for left in [60, 45, 30, 15, 0] {
            assert_eq!(pace.left(false), Duration::from_secs(left));
            assert_eq!(pace.left(true), Duration::from_secs(60), "both sides may be talking");
            pace.receive(1);
            pace.wait(Duration::from_secs(15));
        }
    }

    #[test]
    fn what_arrives_fast_enough_may_take_any_time() {
        let mut pace = pace(240);
        for _ in 0..100_000 {
            pace.receive(240);
            pace.wait(Duration::from_secs(1));
            assert_eq!(pace.left(false), Duration::from_secs(60));
        }
    }

    #[test]
    fn without_a_rate_only_a_pause_counts() {
        let mut pace = pace(0);
        pace.wait(Duration::MAX);
        assert_eq!(pace.left(false), Duration::from_secs(60));
    }
}
