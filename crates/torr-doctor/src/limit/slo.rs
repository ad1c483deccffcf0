//! The objectives of a service, all of which must be met.

use std::fmt;
use torr_gauge::collector::Measurement;
use torr_gauge::sessions::EntryName;
use torr_gauge::threshold::{self, MisplacedRuleError, Objective, ObjectiveError, ObjectiveResult};
use torr_gauge::{Latency, ThresholdRule};

/// The longest gap that one of a hundred may exceed, by default: a multiple of the gap of one stream alone, and milliseconds beyond that.
const GAPS: (f64, f64) = (2.0, 50.0);

/// A list of objectives, all of which must be met.
#[derive(Debug, Clone, PartialEq)]
pub struct Slo(Vec<Objective>);

impl Slo {
    /// The default objectives.
    pub const DEFAULT: &str = "p99<50ms,errors<0.1%";

    /// The default objectives of streams, beside one about gaps that the gaps of a single stream give.
    pub const OF_STREAMS: &str = "first_event_p99<1s,errors<0.1%";

    /// Adds the default objective about gaps, by the usual gap of one stream alone: the pace of a service is its design, and what streams
    /// may not do is slow each other.
    #[must_use]
    pub(super) fn with_gaps_of(mut self, gap_us: f64) -> Self {
        let most_ms = GAPS.0 * gap_us / 1e3 + GAPS.1;
        let objective = Objective::parse(&format!("gap_p99<{:.0}ms", most_ms.clamp(1.0, 1e9)));
        self.0.insert(1.min(self.0.len()), objective.expect("it is a rule about a time"));
        self
    }

    /// Parses objectives with commas between them, such as [`Slo::DEFAULT`].
    ///
    /// # Errors
    /// The first that is not valid.
    pub fn parse(text: &str) -> Result<Self, ObjectiveError> {
        threshold::split(text).into_iter().map(Objective::parse).collect::<Result<_, _>>().map(Self)
    }

    /// Checks that all objectives fit runs with these entries, none for runs without sessions, whose responses are streams of events
    /// or not.
    ///
    /// # Errors
    /// The first that does not.
    pub fn check(&self, entries: &[EntryName], has_streams: bool) -> Result<(), MisplacedRuleError> {
        self.0.iter().try_for_each(|objective| objective.check(entries, has_streams))
    }

    /// Returns whether an objective is about the times between the events of a stream.
    pub(super) fn is_of_gaps(&self) -> bool {
        self.0.iter().any(Objective::is_of_gaps)
    }

    /// Returns the result of each objective in a run.
    pub(super) fn judge(&self, run: &Measurement) -> Vec<ObjectiveResult> {
        self.0.iter().map(|objective| objective.judge(run)).collect()
    }

    /// Returns the objectives as the user wrote them.
    pub fn texts(&self) -> Vec<String> {
        self.0.iter().map(Objective::to_string).collect()
    }

    /// Returns the rules with which `--fail-if` detects a run that misses an objective.
    pub fn breaches(&self) -> Vec<ThresholdRule> {
        self.0.iter().map(Objective::breach).collect()
    }

    /// Returns the number of requests that all objectives need.
    pub(super) fn samples(&self) -> u64 {
        self.0.iter().map(Objective::samples).max().unwrap_or(1)
    }

    /// Returns the largest limit of response times in microseconds.
    pub(super) fn slowest_us(&self) -> Option<f64> {
        self.0.iter().filter_map(Objective::limit_us).reduce(f64::max)
    }

    /// Returns the worst figure of a part of a run as a multiple of its limit.
    pub(super) fn times_limit_so_far(&self, latency: &Latency, done: u64, errors: u64) -> Option<f64> {
        self.0.iter().filter_map(|objective| objective.times_limit_so_far(latency, done, errors)).reduce(f64::max)
    }
}

impl fmt::Display for Slo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.texts().join(","))
    }
}
