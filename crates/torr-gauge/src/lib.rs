//! What a run observes, and the result that it becomes. Knows nothing of how load is made.
//!
//! Threads fill a [`Sample`] each and hand it over once an interval; a [`Collector`] merges counts, never percentiles,
//! and makes the one versioned [`RunResult`] that everything else reads.
#![forbid(unsafe_code)]

pub mod collector;
pub mod error_times;
pub mod failed_response;
pub mod failure;
pub mod gain;
pub mod generator;
pub mod host;
pub mod latency;
pub mod machine;
pub mod number;
pub mod redact;
pub mod result;
pub mod sample;
pub mod series;
pub mod signals;
pub mod sockets;
pub mod steal;
pub mod threshold;
pub mod validity;
pub mod verdict;

pub use collector::Collector;
pub use failure::{Failure, FailureKind, FailureSide};
pub use gain::Gain;
pub use latency::Latency;
pub use machine::Machine;
pub use result::RunResult;
pub use sample::Sample;
pub use signals::Signals;
pub use threshold::{Objective, ThresholdRule};
pub use validity::Validity;
pub use verdict::{Confidence, Factor, Verdict};
