//! The figures by which other load generators describe a distribution.

use torr_gauge::Latency;

/// Minimum, mean, standard deviation, median and maximum, in microseconds. An unknown figure is NaN.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    /// The minimum.
    pub min: f64,
    /// The mean.
    pub mean: f64,
    /// The sample standard deviation.
    pub sd: f64,
    /// The median.
    pub median: f64,
    /// The maximum.
    pub max: f64,
}

impl Spread {
    /// The figures of an empty distribution: all 0, as other programs print them.
    pub const NONE: Self = Self { min: 0.0, mean: 0.0, sd: 0.0, median: 0.0, max: 0.0 };

    /// Returns the figures of the recorded values.
    pub fn of(latency: &Latency) -> Self {
        Self::with_zeros(latency, 0)
    }

    /// Returns the figures of the recorded values and a number of zeros.
    pub fn with_zeros(latency: &Latency, zeros: u64) -> Self {
        let (recorded, all) = (latency.count() as f64, (latency.count() + zeros) as f64);
        if latency.count() == 0 {
            return Self::NONE;
        }
        let histogram = latency.histogram();
        let mean = histogram.mean() * recorded / all;
        let squares = (histogram.stdev().powi(2) + histogram.mean().powi(2)) * recorded;
        let sd = if all < 2.0 { 0.0 } else { ((squares - all * mean * mean).max(0.0) / (all - 1.0)).sqrt() };
        // The zeros are the lowest values; the median's rank counts from the first recorded value.
        let rank = ((all / 2.0).ceil() - zeros as f64) / recorded;
        let median = if rank <= 0.0 { 0.0 } else { histogram.value_at_quantile(rank) as f64 };
        let min = if zeros > 0 { 0.0 } else { histogram.min() as f64 };
        Self { min, mean, sd, median, max: histogram.max() as f64 }
    }
}

/// Returns the value at a percentile; at 100 the maximum.
pub fn percentile(latency: &Latency, percent: f64) -> f64 {
    match (latency.count(), percent) {
        (0, _) => 0.0,
        (_, p) if p >= 100.0 => latency.histogram().max() as f64,
        (_, p) if p <= 0.0 => latency.histogram().min() as f64,
        (_, p) => latency.histogram().value_at_percentile(p) as f64,
    }
}

/// Returns the share of values within one standard deviation of the mean.
pub fn within_deviation(latency: &Latency) -> f64 {
    let spread = Spread::of(latency);
    // The histogram computes its mean from the middle of each bucket.
    let middle = |value| latency.histogram().median_equivalent(value) as f64;
    let near = |value| (middle(value) - spread.mean).abs() <= spread.sd + 1e-6 * spread.mean;
    let within: u64 = latency.counts().filter(|&(value, _)| near(value)).map(|(_, count)| count).sum();
    within as f64 / latency.count().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn latency(values: &[u64]) -> Latency {
        let mut latency = Latency::default();
        values.iter().for_each(|us| latency.record(us * 1000));
        latency
    }

    #[test]
    fn figures_of_known_values() {
        let spread = Spread::of(&latency(&[10, 20, 30, 40, 100]));
        assert_eq!((spread.min, spread.mean, spread.median, spread.max), (10.0, 40.0, 30.0, 100.0));
        assert!((spread.sd - 35.355).abs() < 0.01, "{spread:?}");
        assert_eq!(within_deviation(&latency(&[10, 20, 30, 40, 100])), 0.8);
        assert_eq!((Spread::of(&latency(&[])), Spread::of(&latency(&[7])).sd), (Spread::NONE, 0.0));
        assert_eq!(within_deviation(&latency(&[26_583])), 1.0, "the only one is its own mean");
    }

    #[test]
    fn zeros_count_like_any_value() {
        let spread = Spread::with_zeros(&latency(&[40, 60]), 2);
        assert_eq!((spread.min, spread.mean, spread.median, spread.max), (0.0, 25.0, 0.0, 60.0));
        assert!((spread.sd - 30.0).abs() < 0.01, "{spread:?}");
        assert_eq!(Spread::with_zeros(&latency(&[40, 50, 60]), 1).median, 40.0);
    }

    #[test]
    fn percentiles_up_to_the_last() {
        let latency = latency(&[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
        assert_eq!([0.0, 50.0, 90.0, 100.0].map(|p| percentile(&latency, p)), [1.0, 5.0, 9.0, 10.0]);
        assert_eq!(percentile(&Latency::default(), 50.0), 0.0);
    }
}
