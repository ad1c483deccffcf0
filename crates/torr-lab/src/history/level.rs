//! A level of a metric: the runs between two changes.

use crate::stats::median;
use serde::Serialize;

/// The probability that the median lies beyond each end of its interval, at most.
const BEYOND: f64 = 0.025;

/// Runs between two changes of a metric.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Level {
    /// The number of the first run, from 0.
    pub from: usize,
    /// The number of the last run.
    pub to: usize,
    /// The number of runs that have the metric.
    pub runs: usize,
    /// The median.
    pub median: f64,
    /// The 95% confidence interval of the median, by the ranks of values: the whole range for fewer than six runs, whose interval has a
    /// lower confidence.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
}

impl Level {
    /// Returns the level of values in the runs of these numbers, of which there is at least one.
    pub(super) fn of(at: &[usize], values: &[f64]) -> Self {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let spare = spare(sorted.len());
        Self {
            from: at.first().copied().unwrap_or(0),
            to: at.last().copied().unwrap_or(0),
            runs: values.len(),
            median: median(values),
            low: sorted.get(spare).copied().unwrap_or(0.0),
            high: sorted.iter().rev().nth(spare).copied().unwrap_or(0.0),
        }
    }
}

/// Returns how many of so many values lie beyond each end of the interval of the median: each lies on either side of it as a coin falls.
fn spare(values: usize) -> usize {
    let n = values as f64;
    let (mut probability, mut below, mut k) = (0.5_f64.powf(n), 0.0, 0);
    loop {
        below += probability;
        if below > BEYOND || k + 1 > values / 2 {
            return k.saturating_sub(1);
        }
        probability *= (n - k as f64) / (k as f64 + 1.0);
        k += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::{Level, spare};

    #[test]
    fn the_interval_is_that_of_the_sign_test() {
        // The tables of the sign test, two-sided at 5%.
        for (values, expected) in
            [(0, 0), (1, 0), (5, 0), (6, 0), (8, 0), (9, 1), (10, 1), (12, 2), (15, 3), (20, 5), (25, 7)]
        {
            assert_eq!(spare(values), expected, "{values}");
        }
    }

    #[test]
    fn a_level_has_a_median_and_its_interval() {
        let values = [7.0, 1.0, 3.0, 2.0, 6.0, 5.0, 4.0];
        let level = Level::of(&[2, 3, 4, 5, 7, 8, 9], &values);
        assert_eq!(level, Level { from: 2, to: 9, runs: 7, median: 4.0, low: 1.0, high: 7.0 });
    }
}
