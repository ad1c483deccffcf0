//! Rules in the other sense: what a service is to keep to, such as `p99<50ms`.

use super::figure::{cut_off_after, latency};
use super::metric::{Metric, Unit};
use super::scope::Scope;
use super::{Comparison, MisplacedRuleError, ThresholdRule, ThresholdRuleError};
use crate::Latency;
use crate::collector::Measurement;
use crate::sessions::EntryName;
use serde::{Deserialize, Serialize};
use std::fmt;
use thiserror::Error;

/// The number of samples beyond a percentile that make the percentile a steady figure. [`Latency::quantile`] returns one for
/// fewer.
const BEYOND: f64 = 10.0;

/// A rule that is to hold, of a figure that is better the smaller it is.
#[derive(Debug, Clone, PartialEq)]
pub struct Objective(ThresholdRule);

/// The reason for which a text is no objective.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ObjectiveError {
    /// There is no comparison in it.
    #[error("expected a comparison (< or <=), as in 'p99<50ms'")]
    NoComparison,
    /// A response time is compared with something else.
    #[error("'{metric}' needs a time with its unit (us, ms, s or m), as in '{metric}<50ms', found '{limit}'")]
    NoTime {
        /// The metric.
        metric: String,
        /// The limit.
        limit: String,
    },
    /// The text is no rule of a threshold either.
    #[error(transparent)]
    ThresholdRule(ThresholdRuleError),
    /// The objective has a lower bound of a figure that should be small.
    #[error("'{0}' states what is bad: an objective must state what is good, as in '{1}'")]
    Floor(String, String),
    /// The objective is about throughput, which the search finds.
    #[error(
        "'{0}' is about throughput: an objective must be about response times or errors, as in 'p99<50ms,errors<0.1%'"
    )]
    Rate(String),
}

/// The result of an objective in a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ObjectiveResult {
    /// The objective as the user wrote it, such as `p99<50ms`.
    pub objective: String,
    /// The measured value with its unit, as in the objective; `None` if there are too few samples for the figure.
    pub measured: Option<String>,
    /// Whether the run kept to the objective.
    pub kept: bool,
    /// The measured value as a multiple of the limit.
    pub times_limit: Option<f64>,
}

impl Objective {
    /// Reads an objective such as `p99<50ms` or `errors<=0.1%`.
    ///
    /// # Errors
    /// [`ObjectiveError`], which says what is wrong.
    pub fn parse(text: &str) -> Result<Self, ObjectiveError> {
        let rule = ThresholdRule::parse(text).map_err(|error| match error {
            ThresholdRuleError::NoComparison => ObjectiveError::NoComparison,
            ThresholdRuleError::NoTime { metric, limit } => ObjectiveError::NoTime { metric, limit },
            error => ObjectiveError::ThresholdRule(error),
        })?;
        match (rule.metric, rule.comparison) {
            (Metric::Rps, _) => Err(ObjectiveError::Rate(rule.text)),
            (_, Comparison::Below | Comparison::AtMost) => Ok(Self(rule)),
            _ => Err(ObjectiveError::Floor(rule.text.clone(), rule.opposite().text)),
        }
    }

    /// Checks that the objective fits runs with these entries, none for runs without sessions. `has_streams` tells that responses are
    /// streams of events: how long one lasts is by design, and no objective.
    ///
    /// # Errors
    /// Returns the errors of [`ThresholdRule::check`], and [`MisplacedRuleError::WholeStreams`].
    pub fn check(&self, entries: &[EntryName], has_streams: bool) -> Result<(), MisplacedRuleError> {
        // Sessions have other responses, too.
        if has_streams && entries.is_empty() && self.0.scope == Scope::Run && self.is_of_time() {
            return Err(MisplacedRuleError::WholeStreams(self.0.text.clone()));
        }
        self.0.check(entries, has_streams)
    }

    /// Returns whether the objective is about the times between the events of a stream.
    pub fn is_of_gaps(&self) -> bool {
        matches!(self.0.scope, Scope::Gaps | Scope::TokenGaps)
    }

    /// The rule by which a run fails that does not keep to this.
    pub fn breach(&self) -> ThresholdRule {
        self.0.opposite()
    }

    /// Returns whether the objective is about response times.
    pub fn is_of_time(&self) -> bool {
        matches!(self.0.unit, Unit::Time { .. })
    }

    /// Returns the limit of the objective in microseconds; `None` if it is not about response times.
    pub fn limit_us(&self) -> Option<f64> {
        match self.0.unit {
            Unit::Time { us, .. } => Some(self.0.limit * us),
            _ => None,
        }
    }

    /// Returns the number of requests that make the figure steady.
    pub fn samples(&self) -> u64 {
        match (self.0.metric, self.0.unit) {
            (Metric::Percentile(share), _) => (BEYOND / (1.0 - share)).round() as u64,
            // One in so many may fail: so many are needed to see one.
            (_, Unit::Share) if self.0.limit > 0.0 => (100.0 / self.0.limit).ceil() as u64,
            _ => 100,
        }
    }

    /// Whether a run kept to it. Of too few samples for a percentile as many must be within the limit as it says. So must the gaps of streams
    /// with those that the end of the run cut off beyond the limit: the gaps of a stream that stalls are not among the others.
    pub fn judge(&self, run: &Measurement) -> ObjectiveResult {
        let measured = self.0.measure(run);
        let late = self.limit_us().map_or(0, |us| cut_off_after(us as u64, &self.0.scope, run));
        let kept = match (self.0.metric, self.0.holds(run)) {
            (Metric::Percentile(_), Some(false)) => false,
            (Metric::Percentile(_), Some(true)) if late == 0 => true,
            (Metric::Percentile(share), _) => latency(&self.0.scope, run)
                .and_then(|latency| self.share_within(&latency, late))
                .is_some_and(|within| within >= share),
            (Metric::Max, Some(true)) => late == 0,
            (_, holds) => holds.unwrap_or(false),
        };
        let times_limit = measured.filter(|_| self.0.limit > 0.0).map(|value| value / self.0.limit);
        ObjectiveResult {
            objective: self.0.text.clone(),
            measured: measured.map(|value| self.0.show(value)),
            kept,
            times_limit,
        }
    }

    /// Returns the figure of a part of a run as a multiple of the limit, from the response times or the errors among `done`
    /// requests. `None` for other figures, a limit of 0, or too few samples, and for entries and sessions, which a part of a
    /// run does not tell apart.
    pub fn times_limit_so_far(&self, latency: &Latency, done: u64, errors: u64) -> Option<f64> {
        if self.0.scope != Scope::Run {
            return None;
        }
        let figure = match (self.0.metric, self.0.unit) {
            (Metric::Percentile(share), Unit::Time { us, .. }) => latency.quantile(share)? as f64 / us,
            (Metric::Mean, Unit::Time { us, .. }) => latency.summary()?.mean / us,
            (Metric::Errors, Unit::Share) if done > 0 => errors as f64 * 100.0 / done as f64,
            _ => return None,
        };
        (self.0.limit > 0.0).then(|| figure / self.0.limit)
    }

    /// The share of the times that are within the limit, of which so many more are beyond it.
    fn share_within(&self, latency: &Latency, late: u64) -> Option<f64> {
        let count = latency.count() + late;
        let limit = self.limit_us()?;
        (count > 0).then(|| latency.up_to(limit as u64) as f64 / count as f64)
    }
}

impl fmt::Display for Objective {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl ThresholdRule {
    /// The rule that holds where this does not.
    fn opposite(&self) -> Self {
        let (from, to, comparison) = match self.comparison {
            Comparison::Above => (">", "<=", Comparison::AtMost),
            Comparison::AtLeast => (">=", "<", Comparison::Below),
            Comparison::Below => ("<", ">=", Comparison::AtLeast),
            Comparison::AtMost => ("<=", ">", Comparison::Above),
        };
        let (front, rest) = self.text.split_at(self.comparison_at);
        Self { text: format!("{front}{}", rest.replacen(from, to, 1)), comparison, ..self.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collector::RunFacts;
    use crate::{Collector, Sample};
    use std::time::Duration;

    fn run(slow: u64, of: u64) -> Measurement {
        let mut sample = Sample::default();
        for n in 0..of {
            sample.answered.record(if n < slow { 80_000_000 } else { 10_000_000 });
            sample.status.count(if n < slow { 503 } else { 200 });
        }
        let mut collector = Collector::new(1, Duration::from_secs(1));
        collector.take(0, 0, &sample, true);
        collector.finish(RunFacts { duration: Duration::from_secs(1), started: of, ..RunFacts::default() })
    }

    fn objective(text: &str) -> Objective {
        Objective::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    #[test]
    fn an_objective_is_kept_where_its_rule_holds() {
        for (text, slow, of, kept) in [
            ("p99<50ms", 0, 1000, true),
            ("p99<50ms", 9, 1000, true),
            ("p99<50ms", 20, 1000, false),
            ("p99<=80.1ms", 20, 1000, true),
            // Too few to tell the percentile as a figure.
            ("p99<50ms", 0, 20, true),
            ("p99<50ms", 1, 20, false),
            ("p99<50ms", 1, 100, true),
            ("p99<50ms", 0, 0, false),
            ("max<50ms", 0, 10, true),
            ("errors<0.1%", 1, 1000, false),
            ("errors<=0.1%", 1, 1000, true),
            ("errors<5", 4, 10, true),
        ] {
            let judged = objective(text).judge(&run(slow, of));
            assert_eq!(judged.kept, kept, "{text}, {slow} of {of}: {judged:?}");
        }
        let judged = objective("p99<40ms").judge(&run(20, 1000));
        assert!(judged.times_limit.is_some_and(|times| (times - 2.0).abs() < 0.01), "{judged:?}");
    }

    #[test]
    fn streams_that_stall_count_with_their_silence() {
        let run = |stalled: u64| {
            let mut sample = Sample::default();
            let streams = sample.streams.get_or_insert_default();
            streams.gaps.record_many(20_000, 2000);
            streams.open_gaps.record_many(10_000, 90);
            streams.open_gaps.record_many(900_000, stalled);
            let mut collector = Collector::new(1, Duration::from_secs(1));
            collector.take(0, 0, &sample, true);
            collector.finish(RunFacts { duration: Duration::from_secs(1), ..RunFacts::default() })
        };
        for (text, stalled, kept) in [
            ("gap_p99<50ms", 0, true),
            ("gap_p99<50ms", 20, true),
            ("gap_p99<50ms", 21, false),
            ("gap_p99<1s", 21, true),
            ("gap_max<50ms", 0, true),
            ("gap_max<50ms", 1, false),
            ("gap_p99<10ms", 0, false),
        ] {
            let judged = objective(text).judge(&run(stalled));
            assert_eq!(judged.kept, kept, "{text}, {stalled}: {judged:?}");
        }
    }

    #[test]
    fn streams_that_stall_fail_a_rule_about_gaps() {
        let run = |stalled: u64| {
            let mut sample = Sample::default();
            let streams = sample.streams.get_or_insert_default();
            streams.gaps.record_many(20_000, 2000);
            streams.open_gaps.record_many(10_000, 90);
            streams.open_gaps.record_many(900_000, stalled);
            let mut collector = Collector::new(1, Duration::from_secs(1));
            collector.take(0, 0, &sample, true);
            collector.finish(RunFacts { duration: Duration::from_secs(1), ..RunFacts::default() })
        };
        for (text, stalled, failed, measured) in [
            ("gap_p99>50ms", 0, false, "20ms"),
            ("gap_p99>50ms", 15, false, "20ms"),
            ("gap_p99>50ms", 40, true, "900ms"),
            ("gap_p99>=1s", 40, false, "0.02s"),
            ("gap_max>50ms", 1, true, "900ms"),
            ("gap_max>50ms", 0, false, "20ms"),
            // A rule about short gaps, and one about their mean: a gap that has not ended tells neither.
            ("gap_p99<10ms", 40, false, "20ms"),
            ("gap_mean>50ms", 40, false, "20ms"),
        ] {
            let rule: ThresholdRule = text.parse().expect("it is a rule");
            let judged = rule.judge(&run(stalled));
            assert_eq!((judged.failed, judged.measured.as_deref()), (failed, Some(measured)), "{text}, {stalled}");
        }
    }

    #[test]
    fn a_breach_is_a_rule_that_fails_a_run() {
        let rules = ["p99<50ms", "p99 <= 50ms", "errors<0.1%"].map(|text| objective(text).breach().to_string());
        assert_eq!(rules, ["p99>=50ms", "p99 > 50ms", "errors>=0.1%"]);
        assert!(ThresholdRule::parse(&rules[1]).is_ok());
    }

    #[test]
    fn samples_are_what_the_figure_takes() {
        let samples = ["p50<1s", "p99<1s", "p99.9<1s", "errors<0.1%", "errors<5", "mean<1s"].map(objective);
        assert_eq!(samples.map(|o| o.samples()), [20, 1000, 10_000, 1000, 100, 100]);
    }

    #[test]
    fn a_part_of_a_run_tells_how_bad_it_is() {
        let mut latency = Latency::default();
        (0..1000).for_each(|_| latency.record(150_000_000));
        let times = |text: &str, latency: &Latency| objective(text).times_limit_so_far(latency, 1000, 10);
        assert!(times("p99<50ms", &latency).is_some_and(|times| (times - 3.0).abs() < 0.01));
        assert_eq!(times("errors<0.1%", &latency), Some(10.0));
        assert_eq!(times("p99<50ms", &Latency::default()), None);
        assert_eq!(times("errors<=0", &latency), None);
    }

    #[test]
    fn what_is_no_objective_says_what_to_write() {
        for (text, why) in [
            ("p99>50ms", "'p99<=50ms'"),
            ("rps<5", "about throughput"),
            ("p99<5", "needs a time with its unit"),
            ("p99", "expected a comparison"),
        ] {
            let error = Objective::parse(text).expect_err(text).to_string();
            assert!(error.contains(why), "{text}: {error}");
        }
    }
}
