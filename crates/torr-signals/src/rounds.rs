//! The schedule of a watcher's samples and scans for processes, whose intervals grow with their CPU cost.

use rustix::time::{ClockId, clock_gettime};
use std::time::{Duration, Instant};

/// The time between samples.
const SAMPLE_EVERY: Duration = Duration::from_millis(50);
/// The time between looks for new processes.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// The time between samples that are dear.
const SAMPLE_AT_LEAST_EVERY: Duration = Duration::from_millis(250);
/// So many times what a sample took passes before the next, which makes a hundredth of a CPU. A sample takes about a quarter of
/// a millisecond, and half a microsecond more for each socket of the machine.
const REST_AFTER_SAMPLE: u32 = 100;
/// The minimum of that factor, where the interval would become too long otherwise: at most a twenty-fifth of a CPU.
const REST_AFTER_DEAR_SAMPLE: u32 = 25;
/// The factor of the interval after a scan for processes: a three-hundredth of a CPU.
const REST_AFTER_LOOK: u32 = 300;
/// The factor by which a gentle watcher lengthens the time between samples and between scans.
const GENTLY: u32 = 5;

/// The schedule of samples.
#[derive(Debug)]
pub(super) struct Rounds {
    sample_at: Instant,
    look_at: Instant,
    /// The number of scans that may still be made before they are due.
    extra_looks: u32,
    count: u32,
    /// Whether to cost less and to see less.
    pub gentle: bool,
}

impl Rounds {
    pub fn new() -> Self {
        let now = Instant::now();
        Self { sample_at: now + SAMPLE_EVERY, look_at: now + LOOK_EVERY, extra_looks: 16, count: 0, gentle: false }
    }

    /// Returns the time until the next sample; 0 if the sample is due.
    pub fn rest(&self) -> Duration {
        self.sample_at.saturating_duration_since(Instant::now())
    }

    /// A sample has been taken, and took so much CPU time.
    pub fn sampled(&mut self, cost: Duration) {
        self.count = self.count.wrapping_add(1);
        // Not quite even, so that what happens at even times is not always met or always missed.
        let uneven =
            Duration::from_millis(u64::from(self.count % 11 * 7 % 11)).saturating_sub(Duration::from_millis(5));
        self.sample_at = Instant::now() + rest_after_sample(cost) * self.times() + uneven;
    }

    /// Whether to look for processes now. Those of a new peer are looked for at once, but not where peers come and go.
    pub fn look_is_due(&mut self, new_peers: bool) -> bool {
        let due = Instant::now() >= self.look_at;
        let extra = !due && new_peers && self.extra_looks > 0;
        self.extra_looks -= u32::from(extra);
        due || extra
    }

    fn times(&self) -> u32 {
        if self.gentle { GENTLY } else { 1 }
    }

    /// A look has been taken, and took so much CPU time.
    pub fn looked(&mut self, cost: Duration) {
        self.look_at = Instant::now() + (cost * REST_AFTER_LOOK).max(LOOK_EVERY) * self.times();
    }
}

fn rest_after_sample(cost: Duration) -> Duration {
    let rest = (cost * REST_AFTER_SAMPLE).min(SAMPLE_AT_LEAST_EVERY);
    rest.max(SAMPLE_EVERY).max(cost * REST_AFTER_DEAR_SAMPLE)
}

/// This thread's CPU time: where CPUs are scarce, it takes long to do little, and more samples are wanted, not fewer.
pub(super) fn thread_cpu() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_rarer_the_more_they_cost() {
        let rest = |cost| rest_after_sample(Duration::from_micros(cost)).as_millis();
        assert_eq!([100, 500, 1_000, 2_500, 5_000, 10_000, 40_000].map(rest), [50, 50, 100, 250, 250, 250, 1_000]);
    }
}
