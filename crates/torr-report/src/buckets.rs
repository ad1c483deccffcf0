//! Response times in fixed buckets, for formats without finer histograms.

use torr_gauge::Latency;

/// The upper bounds in microseconds: three per decade, from 10 us to a minute.
pub const BOUNDS_US: [u64; 21] = [
    10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000,
    2_500_000, 5_000_000, 10_000_000, 25_000_000, 60_000_000,
];

/// Returns each bound in seconds with the number of samples up to the bound.
pub fn cumulative(latency: &Latency) -> impl Iterator<Item = (f64, u64)> {
    BOUNDS_US.iter().map(|&us| (us as f64 / 1e6, latency.up_to(us)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_sample_is_in_its_bucket_and_all_above() {
        let mut latency = Latency::default();
        for us in [10, 11, 2_500, 70_000_000] {
            latency.record(us * 1000);
        }
        let counts: Vec<_> = cumulative(&latency).collect();
        assert_eq!(counts[..2], [(0.000_01, 1), (0.000_025, 2)]);
        assert_eq!(counts[6..8], [(0.001, 2), (0.0025, 3)]);
        assert_eq!(counts.last(), Some(&(60.0, 3)), "what is longer has no bucket of its own");
    }
}
