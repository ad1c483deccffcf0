//! What the search requests of a load generator: the only thing that it knows of the world.

use super::slo::Slo;
use serde::{Deserialize, Serialize};
use std::time::Duration;
use torr_gauge::Latency;
use torr_gauge::collector::{Measurement, Progress};
use torr_press::RunError;

/// How hard to press.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Load {
    /// An open loop: requests per second.
    Rate(f64),
    /// A closed loop: connections, each with its next request as soon as the one before is answered.
    Connections(usize),
}

/// What a step is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Purpose {
    /// The response time of a service that has nothing else to do.
    Base,
    /// More and more connections.
    Ladder,
    /// Two rates with the limit between them.
    Bracket,
    /// The same, nearer to each other.
    Bisect,
    /// What was found, pressed for longer.
    Confirm,
    /// More than the limit.
    Overload,
    /// Whether the service is as it was before.
    Settle,
}

/// One step.
#[derive(Debug, Clone, PartialEq)]
pub struct Ask {
    /// How hard.
    pub load: Load,
    /// How long before anything counts.
    pub warmup: Duration,
    /// How long.
    pub length: Duration,
    /// At most so many requests.
    pub requests: Option<u64>,
    /// What for.
    pub purpose: Purpose,
    /// The same in words, for people.
    pub why: String,
    /// Whether it may end as soon as it plainly fails.
    pub may_end_early: bool,
}

/// Presses a service, or something that behaves like one.
pub trait Bench {
    /// Presses as asked. `fails` is shown the progress several times a second: where it says so, the step may end.
    ///
    /// # Errors
    /// As [`torr_press::run`].
    fn press(&mut self, ask: &Ask, fails: &mut dyn FnMut(&Progress) -> bool) -> Result<Measurement, RunError>;

    /// The time since some beginning.
    fn now(&self) -> Duration;

    /// Lets some time pass.
    fn pause(&mut self, length: Duration);

    /// Whether somebody wants all of it to end.
    fn stopped(&self) -> bool;
}

/// So many times its limit a figure must be for a step to end early ...
const PLAIN: f64 = 3.0;
/// ... in so many looks in a row.
const LOOKS: u32 = 2;
/// Requests that it takes to see that.
const SEEN: u64 = 100;
/// A service that is so many seconds of requests behind does not come back: as long as that, and three times what the
/// objectives allow a response.
const BEHIND_S: f64 = 1.0;

/// Watches a step for plain failure.
pub(super) struct Watch<'s> {
    slo: &'s Slo,
    rate: Option<f64>,
    seen: Latency,
    failed_looks: u32,
}

impl<'s> Watch<'s> {
    pub(super) fn new(slo: &'s Slo, load: Load) -> Self {
        let rate = match load {
            Load::Rate(rate) => Some(rate),
            Load::Connections(_) => None,
        };
        Self { slo, rate, seen: Latency::default(), failed_looks: 0 }
    }

    /// Takes a look, and says whether there is nothing more to learn.
    pub(super) fn plainly_fails(&mut self, progress: &Progress) -> bool {
        self.seen.add(&progress.latency);
        let done = progress.requests;
        let times = self.slo.times_limit_so_far(&self.seen, done, progress.errors);
        let behind = self.rate.is_some_and(|rate| {
            let allowed = BEHIND_S + 3.0 * self.slo.slowest_us().unwrap_or(1e6) / 1e6;
            progress.elapsed_s * rate - done as f64 > rate * allowed
        });
        let bad = behind || (done >= SEEN && times.is_some_and(|times| times >= PLAIN));
        self.failed_looks = if bad { self.failed_looks + 1 } else { 0 };
        self.failed_looks >= LOOKS
    }
}
