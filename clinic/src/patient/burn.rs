//! Work for a CPU.

use rustix::time::{ClockId, clock_gettime};
use std::time::Duration;

/// Uses so much of this thread's CPU time. By the clock on the wall it takes longer wherever CPUs are short, as real work does.
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
