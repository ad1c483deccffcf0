//! What blocks say about two versions: different, the same, or that it cannot be shown.

use crate::block::Block;
use crate::metric::Metric;
use crate::stats::bootstrap::{self, LEAST};
use crate::stats::spending::Spending;
use crate::stats::{holm, median, ranks};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// The share of the blocks from which two versions may be the same.
const EARLIEST_SAME: f64 = 0.5;

/// What is known of a difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// There is one.
    Different,
    /// There is none as large as [`Finding::margin`].
    Same,
    /// The noise is too large for either.
    CannotTell,
}

/// The finding about one metric.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Finding {
    /// The metric.
    pub metric: Metric,
    /// The number of pairs of valid turns, or of results of the smaller group.
    pub pairs: usize,
    /// The value of A.
    pub a: Option<f64>,
    /// The value of B.
    pub b: Option<f64>,
    /// The median of the pairs' ratios of B to A; of the share of errors, that of one plus the share.
    pub ratio: Option<f64>,
    /// The 99% interval of the ratio, `None` with too few pairs.
    pub interval: Option<[f64; 2]>,
    /// The probability of such a difference by chance, corrected for the number of metrics.
    pub p: Option<f64>,
    /// The relative difference that counts, 0.02 for 2%.
    pub margin: f64,
    /// The outcome.
    pub outcome: Outcome,
}

impl Finding {
    /// Returns the finding of a metric that was not measured.
    pub fn nothing(metric: Metric) -> Self {
        Self {
            metric,
            pairs: 0,
            a: None,
            b: None,
            ratio: None,
            interval: None,
            p: None,
            margin: 0.02,
            outcome: Outcome::CannotTell,
        }
    }

    /// Returns the noise: half the width of the interval as a share of the ratio.
    pub fn noise(&self) -> Option<f64> {
        let ([low, high], ratio) = self.interval.zip(self.ratio)?;
        Some((high - low) / 2.0 / ratio)
    }

    /// Returns the outcome from the interval, and whether the test has shown a difference.
    pub fn settle(interval: Option<[f64; 2]>, is_shown: bool, margin: f64) -> Outcome {
        match interval {
            Some([low, high]) if is_shown && (low > 1.0 || high < 1.0) => Outcome::Different,
            Some([low, high]) if low > 1.0 - margin && high < 1.0 + margin => Outcome::Same,
            _ => Outcome::CannotTell,
        }
    }

    /// Returns the difference that a ratio of B to A amounts to: a share of A, or of errors the percentage points as a share.
    pub fn change(&self, ratio: f64) -> f64 {
        match self.metric {
            Metric::Errors => (ratio - 1.0) * (1.0 + self.a.unwrap_or(0.0)),
            _ => ratio - 1.0,
        }
    }
}

/// The judge of growing blocks. Metrics that a look has shown stay shown.
#[derive(Debug)]
pub struct Judge {
    metrics: Vec<Metric>,
    margins: Vec<f64>,
    /// The logarithms of the ratios of each metric in blocks of A against A.
    noise: Vec<Vec<f64>>,
    smallest: BTreeMap<Metric, f64>,
    spending: Spending,
    shown: BTreeSet<Metric>,
    rng: fastrand::Rng,
}

impl Judge {
    /// Returns a judge of metrics, each with the relative difference that counts, which knows blocks of A against A. What is drawn at
    /// random depends on the seed.
    pub fn new(metrics: &[(Metric, f64)], noise: &[Block], seed: u64) -> Self {
        Self {
            metrics: metrics.iter().map(|(metric, _)| *metric).collect(),
            margins: metrics.iter().map(|(_, margin)| *margin).collect(),
            noise: metrics.iter().map(|(metric, _)| log_ratios(noise, *metric)).collect(),
            smallest: BTreeMap::new(),
            spending: Spending::default(),
            shown: BTreeSet::new(),
            rng: fastrand::Rng::with_seed(seed),
        }
    }

    /// Returns the smallest relative difference of each metric that the last look could show. No finding claims less.
    pub fn smallest(&self) -> &BTreeMap<Metric, f64> {
        &self.smallest
    }

    /// Looks at all blocks until now, which are a share of those that can come; 1 at the last look.
    pub fn look(&mut self, blocks: &[Block], share: f64) -> Vec<Finding> {
        let level = self.spending.look(share);
        let logs: Vec<Vec<f64>> = self.metrics.iter().map(|&metric| log_ratios(blocks, metric)).collect();
        // What was not measured at all is no metric that could be shown by chance.
        let measured: Vec<usize> = (0..logs.len()).filter(|&at| !logs[at].is_empty()).collect();
        let p = holm::corrected(&measured.iter().map(|&at| ranks::signed(&logs[at])).collect::<Vec<_>>());
        let mut findings: Vec<_> = self.metrics.iter().map(|&metric| Finding::nothing(metric)).collect();
        for (&at, p) in measured.iter().zip(p) {
            let (metric, margin, logs) = (self.metrics[at], self.margins[at], &logs[at]);
            if p <= level {
                self.shown.insert(metric);
            }
            let interval = interval(logs, &mut self.rng);
            let smallest = smallest_difference(&self.noise[at], logs);
            self.smallest.extend(smallest.map(|smallest| (metric, smallest)));
            let (smallest, ratio) = (smallest.unwrap_or(f64::INFINITY), median(logs).exp());
            let outcome = match Finding::settle(interval, self.shown.contains(&metric), margin) {
                // The interval of few blocks is at times too narrow, and a look at them must not end the comparison.
                Outcome::Same if share < EARLIEST_SAME => Outcome::CannotTell,
                // What the noise hides is claimed in neither direction.
                Outcome::Same if margin < smallest => Outcome::CannotTell,
                Outcome::Different if ratio.max(1.0 / ratio) - 1.0 < smallest => Outcome::CannotTell,
                outcome => outcome,
            };
            findings[at] = Finding {
                pairs: logs.len(),
                ratio: Some(ratio),
                interval,
                p: Some(p),
                margin,
                outcome,
                ..Finding::nothing(metric)
            };
        }
        findings
    }
}

/// Returns the logarithms of the ratios of all valid blocks.
pub fn log_ratios(blocks: &[Block], metric: Metric) -> Vec<f64> {
    blocks.iter().filter_map(|block| block.log_ratio(metric)).collect()
}

/// Returns the 99% interval of the median ratio of these logarithms of ratios.
fn interval(logs: &[f64], rng: &mut fastrand::Rng) -> Option<[f64; 2]> {
    let mut drawn = Vec::with_capacity(logs.len());
    let statistic = |positions: &[Vec<usize>]| {
        drawn.clear();
        drawn.extend(positions[0].iter().map(|&at| logs[at]));
        let middle = drawn.len() / 2;
        let (below, upper, _) = drawn.select_nth_unstable_by(middle, f64::total_cmp);
        let upper = *upper;
        match positions[0].len() % 2 {
            1 => upper,
            _ => f64::midpoint(below.iter().copied().fold(f64::NEG_INFINITY, f64::max), upper),
        }
    };
    bootstrap::interval(&[logs.len()], rng, statistic).map(|[low, high]| [low.exp(), high.exp()])
}

/// Returns the smallest relative difference that blocks of A against B can show, by the spread of their ratios and of those of A against A,
/// which differ by nothing in truth. All ratios are logarithms. `None` with too few blocks for an interval.
pub fn smallest_difference(noise: &[f64], blocks: &[f64]) -> Option<f64> {
    /// The quantile of the normal distribution for the level of the last look at three metrics, two-sided.
    const LEVEL: f64 = 3.6;
    /// The standard error of a signed-rank test as a ratio to that of a mean of normal values, sqrt(pi / 3).
    const RANKS: f64 = 1.023;
    /// The standard deviation of normal values as a ratio to their median distance from the middle. The tests go by ranks as well, so that
    /// a few disturbed blocks count for no more here than there.
    const DEVIATION: f64 = 1.4826;
    if blocks.len() < LEAST {
        return None;
    }
    let middle = median(blocks);
    let distances: Vec<f64> =
        noise.iter().copied().chain(blocks.iter().map(|log| log - middle)).map(f64::abs).collect();
    let deviation = DEVIATION * median(&distances);
    Some((LEVEL * RANKS * deviation / (blocks.len() as f64).sqrt()).exp_m1())
}

#[cfg(test)]
mod tests;
