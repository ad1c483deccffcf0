//! How much the number of requests per second varies.

use torr_gauge::replay::Bursts;

const SECOND: i64 = 1_000_000_000;

/// The counts of requests per second, of which only sums are kept.
#[derive(Debug, Clone, Default)]
pub(crate) struct BurstCounter {
    /// The second that is counted, from that of the first request, and its requests.
    current: Option<(i64, u64)>,
    seconds: u64,
    sum: u64,
    squares: f64,
    peak: u64,
}

impl BurstCounter {
    /// Counts a request at a time of the log in nanoseconds since the first request, which is not before that of the request before.
    pub fn count(&mut self, at: i64) {
        let second = at / SECOND;
        match &mut self.current {
            Some((current, requests)) if *current == second => *requests += 1,
            _ => {
                self.close(second);
                self.current = Some((second, 1));
            }
        }
    }

    /// Closes the current second, and the empty ones before `next`.
    fn close(&mut self, next: i64) {
        let Some((second, requests)) = self.current.take() else { return };
        self.seconds += u64::try_from(next - second).unwrap_or(1).max(1);
        self.sum += requests;
        self.squares += (requests as f64).powi(2);
        self.peak = self.peak.max(requests);
    }

    /// Returns the variation so far; `None` if all requests are of one second.
    pub fn bursts(&self) -> Option<Bursts> {
        let mut all = self.clone();
        let (last, _) = all.current?;
        all.close(last + 1);
        let seconds = all.seconds as f64;
        let mean = all.sum as f64 / seconds;
        let variance = (all.squares - seconds * mean * mean).max(0.0) / (seconds - 1.0);
        let dispersion = (variance / mean * 1000.0).round() / 1000.0;
        (all.seconds > 1).then_some(Bursts { seconds: all.seconds, mean, peak: all.peak, dispersion })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(counts: &[i64]) -> Option<Bursts> {
        let mut counter = BurstCounter::default();
        for (second, &count) in counts.iter().enumerate() {
            (0..count).for_each(|number| counter.count(second as i64 * SECOND + number));
        }
        counter.bursts()
    }

    #[test]
    fn dispersion_tells_bursts_from_a_constant_rate() {
        assert_eq!(counted(&[5, 5, 5]), Some(Bursts { seconds: 3, mean: 5.0, peak: 5, dispersion: 0.0 }));
        // The counts 20, 0, 0, 0 have mean 5 and variance 100.
        let burst = counted(&[20, 0, 0, 0, 20, 0, 0, 0, 20]).expect("several seconds");
        assert_eq!((burst.seconds, burst.peak), (9, 20));
        assert!((burst.dispersion - 15.0).abs() < 0.01, "{burst:?}");
        assert_eq!((counted(&[9]), counted(&[])), (None, None));
    }
}
