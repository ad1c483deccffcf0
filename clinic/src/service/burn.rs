//! Computation that takes a given CPU time.

use rustix::time::{ClockId, clock_gettime};
use std::time::Duration;

/// Computes until this thread has used `time` of CPU. Where CPUs are short, more wall-clock time passes, as with real computation.
pub fn burn(time: Duration) {
    let until = used() + time;
    let mut state = 1u64;
    while used() < until {
        for _ in 0..2_000 {
            state = std::hint::black_box(state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1));
        }
    }
}

fn used() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}
