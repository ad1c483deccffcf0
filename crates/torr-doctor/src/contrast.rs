//! Two ways to load a service, measured in turns, and what the second brings.

use crate::laboratory::{Halt, Laboratory};
use crate::turns::{Ratio, in_turns, median};
use crate::words::rate;
use std::fmt;
use torr_press::Plan;

/// Pairs of runs; as many as the difference needs to be told from noise.
const LEAST_PAIRS: usize = 5;
const MOST_PAIRS: usize = 7;
/// Where hardly any of the budget is left.
const FEW_PAIRS: usize = 3;
/// The half width of the interval, as a factor, below which more pairs would tell nothing new.
const NARROW: f64 = 1.1;

/// The throughput of B as a ratio of A's.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Contrast {
    /// How many times as much, with its interval.
    pub of: Ratio,
    /// The medians of both in good answers per second.
    pub rates: (f64, f64),
}

impl Contrast {
    /// Measures both in turns.
    ///
    /// # Errors
    /// [`Halt`].
    pub fn of(lab: &mut Laboratory<'_>, a: (&str, &Plan), b: (&str, &Plan), why: &str) -> Result<Self, Halt> {
        let ways = [a, b];
        let mut rounds = Vec::new();
        in_turns(
            lab,
            ways.len(),
            &mut rounds,
            |lab, way| Ok(lab.run(ways[way].0, why, ways[way].1)?.good_rps()),
            |lab, rounds| {
                let contrast = Self::over(&pairs(rounds));
                let is_narrow = contrast.of.high <= contrast.of.ratio * NARROW;
                let least = if lab.spent() > 0.6 { FEW_PAIRS } else { LEAST_PAIRS };
                rounds.len() >= MOST_PAIRS || (rounds.len() >= least && (is_narrow || lab.spent() > 0.8))
            },
        )?;
        Ok(Self::over(&pairs(&rounds)))
    }

    /// The ratio over pairs of rates; at least one.
    fn over(pairs: &[(f64, f64)]) -> Self {
        let (before, after) = pairs.iter().copied().unzip();
        Self { of: Ratio::over(pairs), rates: (median(before), median(after)) }
    }

    /// Whether B is more than so many times A, beyond doubt.
    pub fn is_above(&self, ratio: f64) -> bool {
        self.of.is_above(ratio)
    }
}

impl fmt::Display for Contrast {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { of: Ratio { ratio, low, high, pairs }, rates } = self;
        write!(
            f,
            "{} became {}, {ratio:.2} times as many ({low:.2} to {high:.2}, {pairs} pairs in turns)",
            rate(rates.0),
            rate(rates.1)
        )
    }
}

fn pairs(rounds: &[Vec<f64>]) -> Vec<(f64, f64)> {
    rounds.iter().map(|round| (round[0], round[1])).collect()
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
