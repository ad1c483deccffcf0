//! The pace of a reader: its rate, bounded by a share of time that reading may take.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The longest time between two looks at the flag that stops a reader.
const LOOK: Duration = Duration::from_millis(50);

/// When a reader reads next, and when it ends.
pub struct Pace<'a> {
    end: Instant,
    stop: &'a AtomicBool,
}

impl<'a> Pace<'a> {
    /// Returns the pace of a reader that begins now.
    pub fn new(time: Duration, stop: &'a AtomicBool) -> Self {
        Self { end: Instant::now() + time, stop }
    }

    /// Returns whether the reader has ended.
    pub fn is_over(&self) -> bool {
        self.stop.load(Ordering::Relaxed) || Instant::now() >= self.end
    }

    /// Sleeps until a time, the reader's end or its stop, whichever comes first.
    pub fn sleep_until(&self, time: Instant) {
        let time = time.min(self.end);
        loop {
            let left = time.saturating_duration_since(Instant::now());
            if left.is_zero() || self.stop.load(Ordering::Relaxed) {
                return;
            }
            std::thread::sleep(left.min(LOOK));
        }
    }
}

/// Returns the time of the next reading: one interval after the last one, or later where readings would take more than this share of time.
pub fn next(begun: Instant, interval: Duration, most: f64) -> Instant {
    begun + interval.max(begun.elapsed().div_f64(most))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_readings_are_made_less_often() {
        let begun = Instant::now() - Duration::from_secs(1);
        assert!(next(begun, Duration::from_millis(50), 0.1) >= begun + Duration::from_secs(10));
        let begun = Instant::now();
        assert_eq!(next(begun, Duration::from_secs(3600), 0.1), begun + Duration::from_secs(3600));
    }

    #[test]
    fn a_reader_that_is_stopped_does_not_sleep() {
        let stop = AtomicBool::new(true);
        let pace = Pace::new(Duration::from_secs(3600), &stop);
        pace.sleep_until(Instant::now() + Duration::from_secs(3600));
        assert!(pace.is_over());
    }
}
