//! The pace of a reader: its rate, bounded by a share of time that reading may take.

use rustix::time::{ClockId, clock_gettime};
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The share of the machine's CPU time that readers may take.
const COST: f64 = 0.015;

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

/// Returns the share of a CPU that the reader of one of so many processes may take, at most `most`: all of them share the machine.
pub fn budget(processes: usize, most: f64) -> f64 {
    let cpus = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    (COST * cpus as f64 / processes.max(1) as f64).min(most)
}

/// A reading that has begun, and what it costs.
#[derive(Debug, Clone, Copy)]
pub struct Begun {
    /// The time.
    pub at: Instant,
    computed: Duration,
}

impl Begun {
    /// Returns a reading of this thread that begins now.
    pub fn now() -> Self {
        Self { at: Instant::now(), computed: computed() }
    }

    /// Returns the CPU time that the reading took so far. On a saturated machine it takes longer than that.
    pub fn cost(self) -> Duration {
        computed().saturating_sub(self.computed)
    }

    /// Returns the time of the next reading: one interval after this one, or later where readings would take more than this share of a CPU.
    pub fn next(self, interval: Duration, most: f64) -> Instant {
        next(self.at, self.cost(), interval, most)
    }
}

/// Returns the CPU time of this thread.
fn computed() -> Duration {
    let used = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(used.tv_sec.unsigned_abs(), u32::try_from(used.tv_nsec).unwrap_or(0))
}

/// Returns the time of the next reading: one interval after the one that has begun then, or later where readings of this cost would take
/// more than this share of time.
pub fn next(begun: Instant, cost: Duration, interval: Duration, most: f64) -> Instant {
    begun + interval.max(cost.div_f64(most))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_readings_are_made_less_often() {
        let begun = Instant::now() - Duration::from_secs(1);
        assert!(next(begun, begun.elapsed(), Duration::from_millis(50), 0.1) >= begun + Duration::from_secs(10));
        let begun = Instant::now();
        assert_eq!(next(begun, begun.elapsed(), Duration::from_secs(3600), 0.1), begun + Duration::from_secs(3600));
    }

    #[test]
    fn expensive_readings_are_made_less_often() {
        let begun = Begun::now();
        while begun.cost() < Duration::from_millis(5) {}
        assert!(begun.next(Duration::from_millis(1), 0.001) >= begun.at + Duration::from_secs(5));
        assert_eq!(begun.next(Duration::from_secs(3600), 0.001), begun.at + Duration::from_secs(3600));
    }

    #[test]
    fn readers_of_many_processes_share_what_one_may_take() {
        let one = budget(1, 1.0);
        assert!(one >= COST && (budget(10, 1.0) - one / 10.0).abs() < 1e-12);
        assert_eq!(budget(1, COST / 2.0), COST / 2.0);
    }

    #[test]
    fn a_reader_that_is_stopped_does_not_sleep() {
        let stop = AtomicBool::new(true);
        let pace = Pace::new(Duration::from_secs(3600), &stop);
        pace.sleep_until(Instant::now() + Duration::from_secs(3600));
        assert!(pace.is_over());
    }
}
