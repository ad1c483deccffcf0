//! Histograms of durations in bounded memory.

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

/// The upper bound of the histogram in microseconds: an hour.
const LONGEST_US: u64 = 3_600_000_000;
/// The number of samples that must lie beyond a percentile, since it would be a guess otherwise.
pub const SAMPLES_BEYOND: f64 = 5.0;

/// An HDR histogram from 1 us to an hour with 3 significant digits. Longer durations count as an hour.
#[derive(Debug, Clone, PartialEq)]
pub struct Latency(Histogram<u64>);

impl Default for Latency {
    fn default() -> Self {
        Self(Histogram::new_with_bounds(1, LONGEST_US, 3).expect("the bounds are constants that hdrhistogram takes"))
    }
}

impl Latency {
    /// Records a duration in nanoseconds, rounded to the nearest microsecond, but at least 1.
    #[inline]
    pub fn record(&mut self, nanos: u64) {
        self.0.saturating_record(Self::rounded(nanos));
    }

    /// Returns a duration in nanoseconds as it is recorded: to the nearest microsecond, but at least 1.
    #[inline]
    pub fn rounded(nanos: u64) -> u64 {
        ((nanos + 500) / 1000).max(1)
    }

    /// Records a duration in microseconds, at least 1, several times.
    pub fn record_many(&mut self, us: u64, count: u64) {
        self.0.saturating_record_n(us.max(1), count);
    }

    /// Records a number that is not a duration, at least 1.
    pub fn record_number(&mut self, number: u64) {
        self.0.saturating_record(number.max(1));
    }

    /// Returns the histogram, of microseconds.
    pub fn histogram(&self) -> &Histogram<u64> {
        &self.0
    }

    /// Returns the number of samples.
    pub fn count(&self) -> u64 {
        self.0.len()
    }

    /// Adds the samples of another histogram.
    pub fn add(&mut self, other: &Self) {
        if other.count() > 0 {
            self.0.add(&other.0).expect("both have the same bounds");
        }
    }

    /// Removes all samples, and keeps the memory.
    pub fn clear(&mut self) {
        if self.count() > 0 {
            self.0.reset();
        }
    }

    /// Whether all samples of another histogram are among these, so that they can be [subtracted](Self::subtract).
    pub fn contains(&self, other: &Self) -> bool {
        other.count() == 0 || self.0.clone().subtract(&other.0).is_ok()
    }

    /// Removes the samples of another histogram that was added before.
    ///
    /// # Panics
    /// If `other` is not part of this histogram.
    pub fn subtract(&mut self, other: &Self) {
        if other.count() > 0 {
            self.0.subtract(&other.0).expect("what is taken away was added before");
        }
    }

    /// Returns the quantile of the given share in microseconds, `None` with fewer than five samples beyond it.
    pub fn quantile(&self, share: f64) -> Option<u64> {
        is_known(self.count(), share).then(|| self.0.value_at_quantile(share))
    }

    /// Returns the longest sample in microseconds, `None` without samples.
    pub fn longest(&self) -> Option<u64> {
        (self.count() > 0).then(|| self.0.max())
    }

    /// Returns the number of samples of at most `us` microseconds, to the histogram's three digits.
    pub fn up_to(&self, us: u64) -> u64 {
        self.0.count_between(0, us)
    }

    /// Returns the sum of all samples in microseconds.
    pub fn sum(&self) -> f64 {
        self.0.mean() * self.count() as f64
    }

    /// Returns each recorded value in microseconds with its count, in ascending order.
    pub fn counts(&self) -> impl Iterator<Item = (u64, u64)> {
        self.0.iter_recorded().map(|step| (step.value_iterated_to(), step.count_at_value()))
    }

    /// Returns the summary, `None` without samples.
    pub fn summary(&self) -> Option<Summary> {
        (self.count() > 0).then(|| Summary {
            min: self.0.min(),
            mean: round(self.0.mean()),
            stddev: round(self.0.stdev()),
            p50: self.quantile(0.5),
            p75: self.quantile(0.75),
            p90: self.quantile(0.9),
            p95: self.quantile(0.95),
            p99: self.quantile(0.99),
            p99_9: self.quantile(0.999),
            p99_99: self.quantile(0.9999),
            max: self.0.max(),
        })
    }
}

/// Returns whether so many samples are enough for the quantile of the given share: at least five lie beyond it.
pub fn is_known(samples: u64, share: f64) -> bool {
    samples as f64 * (1.0 - share) >= SAMPLES_BEYOND - 1e-9
}

fn round(us: f64) -> f64 {
    (us * 10.0).round() / 10.0
}

/// The summary of a distribution in microseconds. Percentiles with fewer than five samples beyond them are omitted.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// The shortest.
    pub min: u64,
    /// The mean.
    pub mean: f64,
    /// The standard deviation.
    pub stddev: f64,
    /// The median.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub p50: Option<u64>,
    /// The 75th percentile.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub p75: Option<u64>,
    /// The 90th percentile.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub p90: Option<u64>,
    /// The 95th percentile.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub p95: Option<u64>,
    /// The 99th percentile.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub p99: Option<u64>,
    /// The 99.9th percentile.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub p99_9: Option<u64>,
    /// The 99.99th percentile.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub p99_99: Option<u64>,
    /// The longest.
    pub max: u64,
}

impl Summary {
    /// Returns the median, or else the mean, in microseconds.
    pub fn typical_us(&self) -> f64 {
        self.p50.map_or(self.mean, |us| us as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_needs_samples_beyond_it() {
        let mut latency = Latency::default();
        assert_eq!(latency.summary(), None);
        for us in 1..=500 {
            latency.record(us * 1000);
        }
        let summary = latency.summary().unwrap();
        assert_eq!((summary.min, summary.max, summary.p50, summary.p99), (1, 500, Some(250), Some(495)));
        assert_eq!(summary.p99_9, None, "half a sample lies beyond");
    }

    #[test]
    fn what_is_no_longer_than_a_bound_is_counted() {
        let mut latency = Latency::default();
        for us in [10, 20, 2_500, 60_000_000] {
            latency.record(us * 1000);
        }
        assert_eq!([9, 10, 2_499, 2_500, 60_000_000].map(|us| latency.up_to(us)), [0, 1, 2, 3, 4]);
        assert!((latency.sum() / 60_002_530.0 - 1.0).abs() < 1e-3, "{}", latency.sum());
    }

    #[test]
    fn a_split_distribution_adds_up_again() {
        let (mut all, mut part) = (Latency::default(), Latency::default());
        for us in [10, 20, 30] {
            all.record(us * 1000);
        }
        part.record(20_000);
        all.subtract(&part);
        assert_eq!(all.counts().collect::<Vec<_>>(), [(10, 1), (30, 1)]);
        all.add(&part);
        assert_eq!(all.count(), 3);
    }

    #[test]
    fn what_is_out_of_range_counts_at_its_edge() {
        let mut latency = Latency::default();
        latency.record(0);
        latency.record(u64::MAX / 2);
        let summary = latency.summary().unwrap();
        assert_eq!(summary.min, 1);
        assert!(summary.max >= LONGEST_US);
    }
}
