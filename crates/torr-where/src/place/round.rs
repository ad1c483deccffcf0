//! Rounds: what all threads do at one time, again and again, and the samples of those that compute in between.

use crate::stack::StackSample;

/// The longest time between a sample of waiting threads and one of computing threads that belong together, in nanoseconds.
const TOGETHER: u64 = 6_000_000;

/// All threads at one time.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Round {
    /// The time on the monotonic clock, in nanoseconds.
    pub time: u64,
    /// What the threads did.
    pub samples: Vec<StackSample>,
}

/// Samples of computing threads in the order of their times.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CpuSeries(pub Vec<(u64, StackSample)>);

impl CpuSeries {
    /// Returns the samples around a time.
    pub fn around(&self, time: u64) -> &[(u64, StackSample)] {
        let begin = self.0.partition_point(|(at, _)| at + TOGETHER < time);
        let end = self.0.partition_point(|(at, _)| *at <= time + TOGETHER);
        &self.0[begin..end]
    }
}
