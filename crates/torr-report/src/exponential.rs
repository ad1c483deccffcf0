//! Response times in exponential buckets, whose number does not depend on how far the times are apart.

use torr_gauge::Latency;

/// The number of buckets at most, as in SDKs of OpenTelemetry.
const MOST: usize = 160;
/// The finest scale: buckets that are 0.3% wide. The histogram that they are made of has three significant digits.
const FINEST: i32 = 8;
/// The coarsest scale, at which the whole histogram fits.
const COARSEST: i32 = 0;

/// Counts in buckets of which each is wider than the one before by the factor 2^(2^-scale).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Exponential {
    pub scale: i32,
    /// The index of the first bucket: bucket i has the seconds above base^i, up to base^(i + 1).
    pub first: i32,
    pub counts: Vec<u64>,
}

impl Exponential {
    /// Returns the times in seconds, at the finest scale that takes at most 160 buckets. Without times there are no buckets.
    pub fn of(latency: &Latency) -> Self {
        let counts: Vec<_> = latency.counts().collect();
        let index = |us: u64, scale: i32| ((us as f64 / 1e6).log2() * f64::from(scale).exp2()).ceil() as i32 - 1;
        let (Some((least, _)), Some((most, _))) = (counts.first(), counts.last()) else {
            return Self { scale: FINEST, first: 0, counts: Vec::new() };
        };
        let buckets = |scale| (index(*most, scale) - index(*least, scale)) as usize + 1;
        let scale = (COARSEST..=FINEST).rev().find(|scale| buckets(*scale) <= MOST).unwrap_or(COARSEST);
        let first = index(*least, scale);
        let mut all = vec![0; buckets(scale)];
        for (us, count) in counts {
            all[(index(us, scale) - first) as usize] += count;
        }
        Self { scale, first, counts: all }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_time_is_in_the_bucket_that_its_bounds_say() {
        let mut latency = Latency::default();
        let times_us = [10, 11, 950, 1_000, 2_000_000, 60_000_000];
        times_us.iter().for_each(|us| latency.record(us * 1000));
        let Exponential { scale, first, counts } = Exponential::of(&latency);
        assert!(counts.len() <= MOST && counts.len() * 2 > MOST, "{scale}: {} buckets", counts.len());
        assert_eq!(counts.iter().sum::<u64>(), 6);
        let base = f64::from(-scale).exp2().exp2();
        for us in times_us {
            let held = counts.iter().enumerate().any(|(at, &count)| {
                let above = base.powi(first + at as i32) * 1e6;
                // The histogram has three significant digits.
                count > 0 && (above * 0.999..=above * base * 1.001).contains(&(us as f64))
            });
            assert!(held, "{us} us");
        }
        assert!(Exponential::of(&Latency::default()).counts.is_empty());
        let mut wide = Latency::default();
        [1, 3_600_000_000].iter().for_each(|us| wide.record(us * 1000));
        assert!(Exponential::of(&wide).counts.len() <= MOST);
    }
}
