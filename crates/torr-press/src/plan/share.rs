//! The part of a plan that one of several generators carries out.

use super::Plan;
use std::time::Duration;

/// One generator's part of a plan that several carry out together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Share {
    /// The part of all rates, more than 0 and at most 1.
    pub part: f64,
    /// The number of its connections, at least 1.
    pub connections: usize,
    /// The number of its requests, where the plan has one.
    pub requests: Option<u64>,
    /// [`Plan::phase`].
    pub phase: f64,
    /// [`Plan::users_before`].
    pub users_before: usize,
}

impl Plan {
    /// Returns a generator's part of the plan. It observes no server, which is a matter of the whole.
    #[must_use]
    pub fn shared(self, share: &Share) -> Self {
        Self {
            pace: self.pace.scaled(share.part),
            connections: share.connections,
            requests: share.requests,
            phase: share.phase,
            users_before: share.users_before,
            watch_server: false,
            ..self
        }
    }

    /// Returns the time from the first connect to the end that the plan itself sets, the warm-up included; `None` for a
    /// plan that only a number of requests or an interruption ends.
    pub fn length(&self) -> Option<Duration> {
        let deadline = self.deadline();
        (deadline != u64::MAX).then(|| Duration::from_nanos(deadline))
    }
}
