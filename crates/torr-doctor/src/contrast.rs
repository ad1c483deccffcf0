//! Two ways to load a service, measured in turns, and what the second brings.

use crate::thresholds::PAIRS_ALIKE;
use crate::turns::{Ratio, median};
use torr_gauge::verdict::Speedup;

/// The throughput of B as a ratio of A's.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Contrast {
    /// The ratio with its interval.
    pub of: Ratio,
    /// The medians of both in good responses per second.
    pub rates: (f64, f64),
    /// Whether both are alike in each pair.
    pub are_alike: bool,
}

impl Contrast {
    /// The ratio over pairs of rates; at least one.
    pub fn over(pairs: &[(f64, f64)]) -> Self {
        let (before, after) = pairs.iter().copied().unzip();
        let is_alike = |(a, b): &(f64, f64)| (a / PAIRS_ALIKE..=a * PAIRS_ALIKE).contains(b);
        let are_alike = pairs.iter().all(is_alike);
        Self { of: Ratio::over(pairs), rates: (median(before), median(after)), are_alike }
    }

    /// Whether B is more than so many times A, beyond doubt.
    pub fn is_above(&self, ratio: f64) -> bool {
        self.of.is_above(ratio)
    }

    /// Returns the ratio as a part of a fact.
    pub fn speedup(&self) -> Speedup {
        let Self { of: Ratio { ratio, low, high, pairs }, rates: (before_rps, after_rps), .. } = *self;
        Speedup { before_rps, after_rps, ratio, interval: (pairs > 1).then_some((low, high)), pairs }
    }
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
        assert!(!noisy.is_above(1.0) && noisy.of.low < 1.0, "{noisy:?}");
        assert!(!Contrast::over(&[(100.0, 300.0)]).is_above(1.0), "one pair proves nothing");
    }
}
