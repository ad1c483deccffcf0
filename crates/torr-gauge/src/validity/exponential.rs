//! The Anderson-Darling test of gaps between requests for an exponential distribution with a known mean, which those of a
//! Poisson process have.
//!
//! Since no parameter is estimated from the sample, the statistic's distribution is the same for every distribution tested
//! ("case 0"): 5% lie above 2.492, 1% above 3.857 (Stephens, "EDF statistics for goodness of fit and some comparisons",
//! Journal of the American Statistical Association 69, 1974). Between such points it is computed by the approximation of
//! Marsaglia and Marsaglia, "Evaluating the Anderson-Darling distribution", Journal of Statistical Software 9(2), 2004,
//! that of a large sample, which this one is from some tens of gaps on.

/// The result of the test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fit {
    /// The statistic, A squared.
    pub a2: f64,
    /// The probability of at least this statistic by chance.
    pub p: f64,
    /// The maximum difference between both distribution functions, 0 to 1.
    pub distance: f64,
}

/// The least number of gaps for the test.
pub const LEAST_GAPS: usize = 50;

/// Tests gaps against the exponential distribution of this mean, both in nanoseconds. `None` with fewer than fifty gaps, or
/// without a positive mean.
pub fn exponential(gaps: &[u64], mean: f64) -> Option<Fit> {
    if gaps.len() < LEAST_GAPS || mean.is_nan() || mean <= 0.0 {
        return None;
    }
    // The clock's resolution is 1 ns: a gap of 0 counts as half of it.
    let mut scaled: Vec<f64> = gaps.iter().map(|&gap| (gap as f64).max(0.5) / mean).collect();
    scaled.sort_unstable_by(f64::total_cmp);
    let n = scaled.len() as f64;
    let (mut sum, mut distance) = (0.0, 0.0_f64);
    for (at, (x, mirrored)) in scaled.iter().zip(scaled.iter().rev()).enumerate() {
        let share = -(-x).exp_m1();
        // The logarithm of the exponential's tail beyond x is -x.
        sum += (2.0 * at as f64 + 1.0) * (share.ln() - mirrored);
        distance = distance.max(share - at as f64 / n).max((at as f64 + 1.0) / n - share);
    }
    let a2 = -n - sum / n;
    Some(Fit { a2, p: 1.0 - below(a2), distance })
}

/// Returns the probability that the statistic of a large sample is below `z`.
fn below(z: f64) -> f64 {
    let polynomial = |terms: &[f64]| terms.iter().rev().fold(0.0, |sum, term| sum * z + term);
    if z <= 0.0 {
        0.0
    } else if z < 2.0 {
        let terms = [2.000_12, 0.247_105, -0.064_982_1, 0.034_796_2, -0.011_672, 0.001_686_91];
        (-1.233_714_1 / z).exp() / z.sqrt() * polynomial(&terms)
    } else if z < 10.0 {
        (-polynomial(&[1.0776, -2.306_95, 0.434_24, -0.082_433, 0.008_056, -0.000_314_6]).exp()).exp()
    } else {
        // Beyond the range of the approximation the probability is 1 to all digits.
        1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fastrand::Rng;

    const MEAN: f64 = 1e6;

    fn gaps(n: usize, mut gap: impl FnMut() -> f64) -> Vec<u64> {
        (0..n).map(|_| gap().round() as u64).collect()
    }

    #[test]
    fn the_distribution_is_that_of_the_tables() {
        for (z, tail) in [(1.933, 0.1), (2.492, 0.05), (3.070, 0.025), (3.857, 0.01), (6.0, 0.001)] {
            let p = 1.0 - below(z);
            assert!((p - tail).abs() < 0.05 * tail, "{z}: {p}");
        }
        assert_eq!((below(0.0), below(50.0)), (0.0, 1.0));
    }

    #[test]
    fn exponential_gaps_are_rejected_no_more_often_than_promised() {
        let mut random = Rng::with_seed(1);
        for n in [50, 2000] {
            const RUNS: usize = 2000;
            let refused = (0..RUNS).filter(|_| {
                let sample = gaps(n, || -(1.0 - random.f64()).ln() * MEAN);
                exponential(&sample, MEAN).is_some_and(|fit| fit.p < 0.01)
            });
            let share = refused.count() as f64 / RUNS as f64;
            assert!((0.003..0.018).contains(&share), "{share} of samples of {n}");
        }
    }

    #[test]
    fn other_gaps_are_rejected() {
        let mut random = Rng::with_seed(2);
        let even = exponential(&gaps(500, || MEAN), MEAN).expect("they are enough");
        let spread = exponential(&gaps(500, || 2.0 * MEAN * random.f64()), MEAN).expect("they are enough");
        let batches = {
            let mut number = 0;
            gaps(500, || {
                number += 1;
                if number % 10 == 0 { 10.0 * MEAN } else { 0.0 }
            })
        };
        let batches = exponential(&batches, MEAN).expect("they are enough");
        let slow = exponential(&gaps(500, || -1.3 * (1.0 - random.f64()).ln() * MEAN), MEAN).expect("they are enough");
        for (what, fit, distance) in
            [("even", even, 0.5), ("spread", spread, 0.1), ("batches", batches, 0.5), ("slow", slow, 0.05)]
        {
            assert!(fit.p < 0.001 && fit.distance > distance, "{what}: {fit:?}");
        }
        assert_eq!(exponential(&[1; 10], MEAN), None, "ten gaps say nothing");
        assert_eq!(exponential(&[1; 100], 0.0), None);
    }
}
