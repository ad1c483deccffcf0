//! When a load has settled: its connections are open, and the first responses are in. What is measured before is the opening of
//! connections, and an idle service.

use crate::experiment::Load;
use crate::observation::Observation;
use crate::thresholds::STILL_OPENING;
use std::time::Duration;
use torr_gauge::verdict::ExperimentId as Id;

/// The time in which connections are opened, if they are opened at once.
pub const SHORT: Duration = Duration::from_millis(100);
/// The number of response times that a warm-up lasts, and that a measurement lasts at least. Only requests that begin after the warm-up
/// count, so that a shorter measurement would have next to none.
const RESPONSES: (f64, f64) = (1.2, 2.0);
/// The longest response time that is waited for.
const LONGEST: Duration = Duration::from_secs(60);

/// The response times of a load once it has settled.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settling {
    /// The response time of a single request.
    alone: Duration,
    /// The response time with the queue of all connections, if throughput is no higher than before.
    queued: Duration,
}

impl Settling {
    /// Returns the response times of a load: that of a single request, and the queue's at the highest throughput so far.
    pub fn of(load: &Load, alone_s: f64, most_rps: f64) -> Self {
        let queued_s = if load.rate.is_none() && most_rps > 0.0 { load.connections as f64 / most_rps } else { 0.0 };
        let time = |seconds: f64| Duration::from_secs_f64(seconds.min(LONGEST.as_secs_f64()));
        Self { alone: time(alone_s), queued: time(alone_s.max(queued_s)) }
    }

    /// Returns the least length of a measurement of the settled load, if queues are what makes it long.
    pub fn least_length(self) -> Option<Duration> {
        (self.queued > SHORT).then(|| self.queued.mul_f64(RESPONSES.1))
    }

    /// Returns the warm-up before a measurement of this length: none if the measurement is so short that requests which begin in it
    /// would not end in it.
    pub fn warmup(self, length: Duration) -> Duration {
        let [alone, queued] = [self.alone, self.queued].map(|response| response.mul_f64(RESPONSES.1) <= length);
        let ends = self.queued.mul_f64(RESPONSES.0) <= length;
        match () {
            () if queued => SHORT + self.queued.mul_f64(RESPONSES.0),
            () if alone && ends => SHORT + self.alone.mul_f64(RESPONSES.0),
            () => Duration::ZERO,
        }
    }
}

/// Returns the warm-up in which a step of the ladder opens its connections, if it still opened them while it was measured. `warmup` is
/// that of the step.
pub fn until_open(seen: &Observation, warmup: Duration) -> Option<Duration> {
    let run = &seen.run;
    let is_step = matches!(seen.id, Id::Rung(_) | Id::Full | Id::FullUndisturbed | Id::FullSpread | Id::Double);
    let (opened, before) = (run.connections.opened as f64, run.connections.carried as f64);
    let is_kept = run.plan.keep_alive && run.connections.closed_by_server == 0 && run.errors.total() == 0;
    let is_opening = opened > STILL_OPENING * run.plan.connections as f64 && before > 0.0;
    (is_step && is_kept && is_opening && run.warmup.is_some())
        .then(|| warmup.mul_f64((1.0 + opened / before) * RESPONSES.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::setting::Setting;

    #[test]
    fn a_load_settles_within_a_response_time_and_is_measured_for_two() {
        let millis = Duration::from_millis;
        for (what, connections, rate, alone_s, most, warmup) in [
            ("before the ladder", 1, None, 0.01, 0.0, 112),
            ("a queue of a second", 200, None, 0.02, 200.0, 1300),
            ("a queue of most of the measurement", 300, None, 0.02, 200.0, 124),
            ("a queue that is longer than the measurement", 2000, None, 0.02, 200.0, 0),
            ("an open loop has no such queue", 200, Some(100.0), 0.02, 200.0, 124),
        ] {
            let setting = Setting { connections, ..Setting::default() };
            let load = Load { rate, ..setting.user(Id::Full, 1.0).load };
            assert_eq!(Settling::of(&load, alone_s, most).warmup(Duration::from_secs(2)), millis(warmup), "{what}");
        }
    }
}
