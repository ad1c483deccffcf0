//! Two ways to load a service, measured in turns: A B A B ..., so that what changes meanwhile changes both.

use crate::laboratory::{Halt, Laboratory};
use crate::words::rate;
use std::fmt;
use torr_press::Plan;

/// Pairs of runs; as many as the difference needs to be told from noise.
const LEAST_PAIRS: usize = 3;
const MOST_PAIRS: usize = 6;
/// The half width of the interval, as a factor, below which more pairs would tell nothing new.
const NARROW: f64 = 1.1;

/// The throughput of B as a ratio of A's, with its 95% confidence interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Contrast {
    /// The geometric mean of the pairs' ratios.
    pub ratio: f64,
    /// The lower end of the interval.
    pub low: f64,
    /// The upper end of the interval.
    pub high: f64,
    /// Pairs.
    pub pairs: usize,
    /// The medians of both in good answers per second.
    pub rates: (f64, f64),
}

impl Contrast {
    /// Measures both in turns.
    ///
    /// # Errors
    /// [`Halt`].
    pub fn of(lab: &mut Laboratory<'_>, a: (&str, &Plan), b: (&str, &Plan), why: &str) -> Result<Self, Halt> {
        let mut pairs = Vec::new();
        loop {
            let before = lab.run(a.0, why, a.1)?.good_rps();
            let after = lab.run(b.0, why, b.1)?.good_rps();
            pairs.push((before, after));
            let contrast = Self::over(&pairs);
            let is_narrow = contrast.high <= contrast.ratio * NARROW;
            if pairs.len() >= MOST_PAIRS || (pairs.len() >= LEAST_PAIRS && (is_narrow || lab.spent() > 0.8)) {
                return Ok(contrast);
            }
        }
    }

    /// The ratio over pairs of rates; at least one.
    fn over(pairs: &[(f64, f64)]) -> Self {
        let logs: Vec<f64> = pairs.iter().map(|(a, b)| (b.max(0.01) / a.max(0.01)).ln()).collect();
        let n = logs.len() as f64;
        let mean = logs.iter().sum::<f64>() / n;
        let variance = logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>() / (n - 1.0).max(1.0);
        let half = if logs.len() > 1 { student(logs.len() - 1) * (variance / n).sqrt() } else { f64::INFINITY };
        let median = |pick: fn(&(f64, f64)) -> f64| {
            let mut rates: Vec<f64> = pairs.iter().map(pick).collect();
            rates.sort_by(f64::total_cmp);
            rates[rates.len() / 2]
        };
        Self {
            ratio: mean.exp(),
            low: (mean - half).exp(),
            high: (mean + half).exp(),
            pairs: pairs.len(),
            rates: (median(|pair| pair.0), median(|pair| pair.1)),
        }
    }

    /// Whether B is more than so many times A, beyond doubt.
    pub fn is_above(&self, ratio: f64) -> bool {
        self.low > ratio
    }
}

impl fmt::Display for Contrast {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { ratio, low, high, pairs, rates } = self;
        write!(
            f,
            "{} became {}, {ratio:.2} times as many ({low:.2} to {high:.2}, {pairs} pairs in turns)",
            rate(rates.0),
            rate(rates.1)
        )
    }
}

/// The 97.5th percentile of Student's t with so many degrees of freedom.
fn student(freedom: usize) -> f64 {
    const T: [f64; 6] = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447];
    T.get(freedom.saturating_sub(1)).copied().unwrap_or(2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_more_than_it_varies_is_beyond_doubt() {
        let double = Contrast::over(&[(100.0, 201.0), (98.0, 199.0), (103.0, 204.0)]);
        assert!(double.is_above(1.8) && !double.is_above(2.1), "{double:?}");
        assert_eq!(double.rates, (100.0, 201.0));
    }

    #[test]
    fn what_varies_more_than_it_differs_is_not() {
        let noisy = Contrast::over(&[(100.0, 150.0), (140.0, 100.0), (90.0, 130.0)]);
        assert!(!noisy.is_above(1.0) && noisy.low < 1.0, "{noisy:?}");
        assert!(!Contrast::over(&[(100.0, 300.0)]).is_above(1.0), "one pair proves nothing");
    }
}
