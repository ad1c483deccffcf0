//! Several ways to do something, measured in turns: A B C A B C ..., so that what changes meanwhile changes all of them.

use crate::halt::Halt;
use crate::load_runner::LoadRunner;
use crate::thresholds::VAGUE;
use serde::Serialize;

/// Measures `ways` ways in turns, a round after another, until `enough` says so. Each round that is complete is put into
/// `rounds`, whatever ends it all.
///
/// # Errors
/// What `measure` has.
pub fn in_turns<'l, T>(
    runner: &mut LoadRunner<'l>,
    ways: usize,
    rounds: &mut Vec<Vec<T>>,
    mut measure: impl FnMut(&mut LoadRunner<'l>, usize) -> Result<T, Halt>,
    enough: impl Fn(&LoadRunner<'l>, &[Vec<T>]) -> bool,
) -> Result<(), Halt> {
    loop {
        let round = (0..ways).map(|way| measure(runner, way)).collect::<Result<_, _>>()?;
        rounds.push(round);
        if enough(runner, rounds) {
            return Ok(());
        }
    }
}

/// A ratio with its 95% confidence interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Ratio {
    /// The geometric mean of the pairs' ratios.
    pub ratio: f64,
    /// The lower end of the interval; 0 with one pair.
    pub low: f64,
    /// The upper end of the interval; infinite with one pair, which JSON has no number for.
    pub high: f64,
    /// Pairs.
    pub pairs: usize,
}

impl Ratio {
    /// Returns the ratio of the second of each pair to the first; needs at least one pair.
    pub fn over(pairs: &[(f64, f64)]) -> Self {
        let logs: Vec<f64> = pairs.iter().map(|(a, b)| (b.max(0.01) / a.max(0.01)).ln()).collect();
        let n = logs.len() as f64;
        let mean = logs.iter().sum::<f64>() / n;
        let variance = logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>() / (n - 1.0).max(1.0);
        let half = if logs.len() > 1 { student(logs.len() - 1) * (variance / n).sqrt() } else { f64::INFINITY };
        Self { ratio: mean.exp(), low: (mean - half).exp(), high: (mean + half).exp(), pairs: logs.len() }
    }

    /// Whether it is more than this, beyond doubt.
    pub fn is_above(&self, ratio: f64) -> bool {
        self.low > ratio
    }

    /// Whether it is less than this, beyond doubt.
    pub fn is_below(&self, ratio: f64) -> bool {
        self.high < ratio
    }

    /// Whether the interval is so wide that it tells hardly anything.
    pub fn is_vague(&self) -> bool {
        self.high > VAGUE * self.low
    }

    /// Whether it may as well be 1.
    pub fn is_one(&self) -> bool {
        !self.is_above(1.0) && !self.is_below(1.0)
    }
}

/// The median of what there is at least one of; of an even number the upper one.
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// The 97.5th percentile of Student's t with so many degrees of freedom.
fn student(freedom: usize) -> f64 {
    const T: [f64; 10] = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228];
    // With more it is less, so that the last one errs on the safe side.
    T[freedom.clamp(1, T.len()) - 1]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_more_than_it_varies_is_beyond_doubt() {
        let half = Ratio::over(&[(201.0, 100.0), (199.0, 98.0), (204.0, 103.0)]);
        assert!(!half.is_vague() && half.is_below(0.55) && half.is_above(0.45) && half.pairs == 3, "{half:?}");
    }

    #[test]
    fn one_pair_proves_nothing() {
        let once = Ratio::over(&[(100.0, 300.0)]);
        assert!(
            once.is_vague() && !once.is_above(0.01) && !once.is_below(100.0) && (once.ratio - 3.0).abs() < 1e-9,
            "{once:?}"
        );
    }

    #[test]
    fn the_median_is_one_of_the_values() {
        assert_eq!(median(vec![3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(vec![3.0, 1.0]), 3.0);
    }
}
