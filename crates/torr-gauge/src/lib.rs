#![doc = include_str!("../README.md")]
//!
//! # How it is made
//!
//! Each thread of the load engine fills a [`Sample`] per interval. A [`Collector`] merges the counts, never percentiles, into
//! one [`RunResult`].
#![forbid(unsafe_code)]

pub mod bounds;
pub mod buckets;
pub mod collector;
pub mod cpu_use;
pub mod datagrams;
pub mod error_times;
pub mod failed_response;
pub mod failure;
pub mod fleet;
pub mod gain;
pub mod generator;
pub mod grpc;
pub mod host;
pub mod idle_closes;
mod known;
pub mod latency;
pub mod limits;
pub mod machine;
pub mod number;
pub mod numbers;
mod pairs;
pub mod redact;
pub mod replay;
pub mod result;
pub mod sample;
pub mod secrets;
pub mod series;
pub mod sessions;
pub mod sockets;
pub mod stalls;
pub mod statuses;
pub mod steal;
pub mod steering;
mod step_counts;
pub mod streams;
pub mod threshold;
pub mod validity;
pub mod verdict;
pub mod websocket;

pub use collector::Collector;
pub use cpu_use::CpuUse;
pub use failure::{Failure, FailureKind, FailureSide};
pub use gain::Gain;
pub use grpc::GrpcStatus;
pub use host::Host;
pub use latency::Latency;
pub use machine::Machine;
pub use result::RunResult;
pub use result::validity::Validity;
pub use sample::Sample;
pub use secrets::Secrets;
pub use sessions::SessionCounts;
pub use threshold::{Objective, ThresholdRule};
pub use verdict::{Confidence, Factor, Verdict};
