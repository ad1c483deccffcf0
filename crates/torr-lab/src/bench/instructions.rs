//! The instructions that a server executes for a request, where the CPU counts them.

use std::fs;
use torr_gauge::RunResult;
use torr_net::perf_counter::{Event, PerfCounter};
use torr_signals::Reading;

/// Counters of all threads of a server.
pub struct Instructions(Vec<PerfCounter>);

impl Instructions {
    /// Begins to count. `None` where a thread cannot be counted: on a machine without such counters, or for lack of a right.
    pub fn begin(reading: &Reading) -> Option<Self> {
        let threads = reading.processes.iter().flat_map(|process| threads(process.pid));
        let counters = threads.map(|thread| PerfCounter::of_thread(thread, Event::Instructions).ok());
        counters.collect::<Option<Vec<_>>>().filter(|counters| !counters.is_empty()).map(Self)
    }

    /// Returns the instructions in user space for each response, those of the warm-up included. `None` if a part was not counted.
    pub fn per_response(&self, run: &RunResult) -> Option<f64> {
        let responses = run.requests + run.warmup.map_or(0, |warmup| warmup.requests);
        let counts = self.0.iter().map(|counter| counter.count().ok().flatten());
        let all: u64 = counts.sum::<Option<u64>>()?;
        (responses > 0 && all > 0).then(|| all as f64 / responses as f64)
    }
}

/// Returns the threads of a process; none of a process that has ended.
fn threads(process: i32) -> Vec<u32> {
    let Ok(threads) = fs::read_dir(format!("/proc/{process}/task")) else { return Vec::new() };
    threads.flatten().filter_map(|thread| thread.file_name().to_str()?.parse().ok()).collect()
}
