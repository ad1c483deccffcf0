//! Threads that compute one at a time, as they do under a lock that is held while computing.

use crate::evidence::Evidence;
use crate::figures::Figures;
use crate::gain;
use crate::thresholds::{MACHINE_FULL, MOSTLY_ONE_THREAD, ONE_CORE};
use torr_gauge::verdict::{Advice, Change, Fact, Finding, Headline};
use torr_gauge::{Confidence, Factor};

/// Returns whether several threads of the server use one CPU together while others are free, and none of them is saturated.
pub fn computes_in_turns(figures: &Figures) -> bool {
    let (Some(used), Some(got)) = (figures.server_cores(), figures.least_server_cores()) else { return false };
    let is_free = figures.machine_share().is_some_and(|share| share < MACHINE_FULL);
    let is_spread = figures.busiest_thread().is_some_and(|thread| thread.cores < MOSTLY_ONE_THREAD * used);
    let is_one = used >= ONE_CORE.0 && got <= ONE_CORE.1;
    is_one && is_spread && is_free && figures.full_threads() == 0 && figures.cores().is_some_and(|cores| cores > 1)
}

/// Returns the finding on such threads.
pub fn finding(evidence: &Evidence, confidence: Confidence) -> Finding {
    let figures = &evidence.figures;
    // Without the lock the threads use all CPUs that are free.
    let most = figures.cores().unwrap_or(1) as f64 / figures.server_cores().unwrap_or(1.0).max(1.0);
    Finding::new(Factor::Lock, confidence, Headline::SerialisedComputation)
        .because(Fact::SaturatedThreads { threads: 0, cores: figures.cores() })
        .advice(Advice::ComputeOutsideLock)
        .gain(evidence.bounds().with_more_threads().gain(gain::in_proportion(most), Change::NoLock))
}
