//! The interface of the search to a load generator.

use super::slo::Slo;
use serde::Serialize;
use std::time::Duration;
use torr_gauge::Latency;
use torr_gauge::collector::{Measurement, Progress};
use torr_gauge::verdict::StepReason;
use torr_press::RunError;

/// The load of a step.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Load {
    /// An open loop with this many requests per second.
    Rate(f64),
    /// A closed loop with this many connections.
    Connections(usize),
    /// A closed loop with this many streams of events at a time.
    Streams(usize),
}

impl Load {
    /// Returns the number of streams at a time; `None` for another load.
    pub(super) fn streams(self) -> Option<usize> {
        match self {
            Self::Streams(streams) => Some(streams),
            Self::Rate(_) | Self::Connections(_) => None,
        }
    }
}

/// The purpose of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Purpose {
    /// The response time of an idle service.
    Base,
    /// Throughput by connections.
    Ladder,
    /// The search for two rates with the limit between them.
    Bracket,
    /// The bisection between two rates.
    Bisect,
    /// The confirmation of a rate by a longer step.
    Confirm,
    /// A rate above the limit.
    Overload,
    /// The wait until response times are as before.
    Settle,
}

/// A step.
#[derive(Debug, Clone, PartialEq)]
pub struct Ask {
    /// The load.
    pub load: Load,
    /// The most streams that begin per second, where responses are streams of events.
    pub begins_per_s: Option<f64>,
    /// The length of the warm-up.
    pub warmup: Duration,
    /// The measured time.
    pub length: Duration,
    /// The most requests.
    pub requests: Option<u64>,
    /// The purpose.
    pub purpose: Purpose,
    /// The reason.
    pub why: StepReason,
    /// Whether the step may end early if it clearly fails.
    pub may_end_early: bool,
}

/// A load generator with a service, real or simulated.
pub trait Bench {
    /// Runs a step. `fails` is called with the progress several times a second; if it returns true, the step may end.
    ///
    /// # Errors
    /// As [`torr_press::run`].
    fn press(&mut self, ask: &Ask, fails: &mut dyn FnMut(&Progress) -> bool) -> Result<Measurement, RunError>;

    /// Returns the time since a fixed moment.
    fn now(&self) -> Duration;

    /// Waits.
    fn pause(&mut self, length: Duration);

    /// Returns whether the search is to be interrupted.
    fn stopped(&self) -> bool;
}

/// The multiple of its limit from which a figure ends a step early.
const PLAIN: f64 = 3.0;
/// The number of successive samples in which it must exceed that.
const LOOKS: u32 = 2;
/// The least number of requests before a step ends early.
const SEEN: u64 = 100;
/// The seconds of requests from which a backlog is final, if it is also three times as long as the objectives' response time.
const BEHIND_S: f64 = 1.0;

/// The detection of clear failures during a step.
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
            Load::Connections(_) | Load::Streams(_) => None,
        };
        Self { slo, rate, seen: Latency::default(), failed_looks: 0 }
    }

    /// Takes a sample of the progress. Returns whether the step has clearly failed.
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
