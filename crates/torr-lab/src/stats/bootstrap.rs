//! Bootstrap confidence intervals: bias-corrected and accelerated, BCa (Efron, "Better bootstrap confidence intervals",
//! Journal of the American Statistical Association 82, 1987).

use super::normal::{below, quantile};

/// The confidence level of all intervals of a comparison.
pub const CONFIDENCE: f64 = 0.99;
/// The number of resamples: the 99% interval's ends have ten of them beyond each.
const RESAMPLES: usize = 2_000;
/// The least size of a sample that has an interval: of fewer, the extremes are likely to lie on one side of the median.
pub const LEAST: usize = 8;

/// Returns the BCa interval of a statistic of one or several samples, with the given sizes. `statistic` gets the positions
/// that were drawn from each sample. `None` if a sample has fewer than [`LEAST`] values.
pub fn interval(
    sizes: &[usize],
    rng: &mut fastrand::Rng,
    mut statistic: impl FnMut(&[Vec<usize>]) -> f64,
) -> Option<[f64; 2]> {
    if sizes.iter().any(|&size| size < LEAST) {
        return None;
    }
    let all: Vec<Vec<usize>> = sizes.iter().map(|&size| (0..size).collect()).collect();
    let observed = statistic(&all);
    let mut drawn = all.clone();
    let mut values = Vec::with_capacity(RESAMPLES);
    for _ in 0..RESAMPLES {
        for (positions, &size) in drawn.iter_mut().zip(sizes) {
            positions.iter_mut().for_each(|position| *position = rng.usize(..size));
        }
        values.push(statistic(&drawn));
    }
    values.sort_by(f64::total_cmp);
    // Values that equal the observed one, which a median often does, count half.
    let less = values.partition_point(|value| *value < observed);
    let not_more = values.partition_point(|value| *value <= observed);
    let share = f64::midpoint(less as f64, not_more as f64) / RESAMPLES as f64;
    let bias = quantile(share.clamp(0.5 / RESAMPLES as f64, 1.0 - 0.5 / RESAMPLES as f64));
    let acceleration = acceleration(&all, &mut statistic);
    let end = |share: f64| {
        let z = bias + quantile(share);
        let adjusted = below(bias + z / (1.0 - acceleration * z).max(0.1));
        values[((adjusted * RESAMPLES as f64) as usize).min(RESAMPLES - 1)]
    };
    let beyond = (1.0 - CONFIDENCE) / 2.0;
    Some([end(beyond), end(1.0 - beyond)])
}

/// Returns the acceleration: the skewness of the jackknife's values over 6.
fn acceleration(all: &[Vec<usize>], statistic: &mut impl FnMut(&[Vec<usize>]) -> f64) -> f64 {
    let (mut cubes, mut squares) = (0.0, 0.0);
    for sample in 0..all.len() {
        let mut without = all.to_vec();
        let values: Vec<f64> = (0..all[sample].len())
            .map(|left_out| {
                without[sample] = all[sample].iter().copied().filter(|&position| position != left_out).collect();
                statistic(&without)
            })
            .collect();
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        cubes += values.iter().map(|value| (mean - value).powi(3)).sum::<f64>() / n.powi(3);
        squares += values.iter().map(|value| (mean - value).powi(2)).sum::<f64>() / n.powi(2);
    }
    if squares > 0.0 { cubes / (6.0 * squares.powf(1.5)) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::median;

    /// Numbers of a standard normal distribution, as sums of twelve uniform ones.
    fn normal(rng: &mut fastrand::Rng) -> f64 {
        (0..12).map(|_| rng.f64()).sum::<f64>() - 6.0
    }

    #[test]
    fn few_values_have_no_interval_and_equal_ones_a_point() {
        let mut rng = fastrand::Rng::with_seed(1);
        assert_eq!(interval(&[LEAST - 1], &mut rng, |_| 1.0), None);
        assert_eq!(interval(&[LEAST], &mut rng, |_| 1.0), Some([1.0, 1.0]));
    }

    #[test]
    fn the_interval_of_a_mean_is_that_of_the_normal_distribution() {
        // 1 to 100 have the mean 50.5 and its standard error 2.8866: 50.5 - 2.5758 * 2.8866 = 43.06, and 57.94.
        let mean =
            |drawn: &[Vec<usize>]| drawn[0].iter().map(|at| at + 1).sum::<usize>() as f64 / drawn[0].len() as f64;
        let [low, high] = interval(&[100], &mut fastrand::Rng::with_seed(7), mean).expect("there are enough");
        assert!((low - 43.06).abs() < 0.7 && (high - 57.94).abs() < 0.7, "{low} to {high}");
    }

    #[test]
    fn the_acceleration_is_the_jackknifes_skewness() {
        // For a mean it is sum((x - mean)^3) / (6 sum((x - mean)^2)^1.5): of 0, 0, 0, 4 it is 24 / (6 * 12^1.5) = 0.0962.
        let values = [0.0, 0.0, 0.0, 4.0];
        let mut mean =
            |drawn: &[Vec<usize>]| drawn[0].iter().map(|&at| values[at]).sum::<f64>() / drawn[0].len() as f64;
        let acceleration = acceleration(&[(0..4).collect()], &mut mean);
        assert!((acceleration - 0.096_225).abs() < 1e-5, "{acceleration}");
    }

    #[test]
    fn the_interval_of_a_median_covers_it() {
        let mut rng = fastrand::Rng::with_seed(3);
        let missed = (0..200)
            .filter(|_| {
                let sample: Vec<f64> = (0..30).map(|_| normal(&mut rng)).collect();
                let statistic =
                    |drawn: &[Vec<usize>]| median(&drawn[0].iter().map(|&at| sample[at]).collect::<Vec<_>>());
                let [low, high] = interval(&[30], &mut rng.clone(), statistic).expect("there are enough");
                low > 0.0 || high < 0.0
            })
            .count();
        assert!(missed <= 8, "the interval missed the median {missed} times of 200");
    }
}
