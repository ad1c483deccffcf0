//! The validity of a run, as the result contains it.

use crate::bounds::{Bounded, OutOfBounds, text, within};
use serde::{Deserialize, Serialize};

/// The probability by chance below which an effect counts as real. Three criteria use it.
pub const CHANCE: f64 = 0.003;
/// The limit of a finding's numbers in another machine's report: no count, time in microseconds or ratio is larger.
const LARGEST: f64 = 1e18;

/// The validity of a run. Criteria that do not apply have no finding.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Validity {
    /// Whether all findings are good.
    pub ok: bool,
    /// The findings of all criteria that apply.
    pub findings: Vec<Finding>,
}

/// The finding of one criterion.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// The criterion.
    pub what: Criterion,
    /// Whether the criterion is met.
    pub ok: bool,
    /// The measured value in the unit of the criterion.
    pub value: f64,
    /// The upper limit of the value's distance from 0; for [`Criterion::Samples`] the lower limit.
    pub limit: f64,
    /// The probability of the value by chance. The finding is bad only below [`CHANCE`], or if the change is one clean step.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub p: Option<f64>,
    /// The finding as a sentence with numbers.
    pub note: String,
    /// The remedy for a bad finding.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub advice: Option<String>,
}

/// A criterion of validity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Criterion {
    /// The relative change of throughput from the first third of the run to the last.
    Throughput,
    /// The relative change of the median response time from the first third of the run to the last.
    Latency,
    /// The 99th percentile of the send lag in microseconds.
    SendLag,
    /// The relative difference between the achieved and the planned arrival rate.
    Rate,
    /// The maximum difference between the distribution of gaps between requests and an exponential one.
    Arrivals,
    /// The busy share of the generator's busiest thread.
    Generator,
    /// The share of the time in which the generator's threads were runnable without a CPU.
    Queued,
    /// The stolen share of this machine's CPU time.
    Steal,
    /// The longest time in seconds without a response after the first one.
    Silence,
    /// The number of samples for percentiles.
    Samples,
    /// The share of the requests without a response when a closed loop ended.
    Unfinished,
}

impl Bounded for Finding {
    fn bound(&mut self, _: u64) -> Result<(), OutOfBounds> {
        let Self { what: _, ok: _, value, limit, p, note, advice } = self;
        for number in [Some(*value), Some(*limit), *p].into_iter().flatten() {
            within("findings", number, -LARGEST..=LARGEST)?;
        }
        std::iter::once(note).chain(advice).for_each(text);
        Ok(())
    }
}

impl Finding {
    /// Creates a finding that is good up to its limit.
    pub(crate) fn at_most(what: Criterion, value: f64, limit: f64, note: String) -> Self {
        Self { what, ok: value <= limit, value: round4(value), limit, p: None, note, advice: None }
    }

    /// Adds the remedy if the finding is bad.
    pub(crate) fn or(mut self, advice: &str) -> Self {
        if !self.ok {
            self.advice = Some(advice.to_owned());
        }
        self
    }
}

pub(crate) fn round4(number: f64) -> f64 {
    (number * 1e4).round() / 1e4
}
