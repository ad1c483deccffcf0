//! The criteria of validity, and what they measured, as data. `torr-report` has a sentence and a remedy for each.

use crate::verdict::Unit;
use serde::{Deserialize, Serialize};
use torr_signals::ProgramUse;

/// A criterion of validity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Criterion {
    /// The relative change of throughput from the first third of the run to the last.
    Throughput,
    /// The relative change of the median response time from the first third of the run to the last.
    Latency,
    /// The 99th percentile of the send lag in microseconds.
    SendLag,
    /// The relative difference between the achieved and the planned arrival rate.
    Rate,
    /// The maximum difference between the distribution of gaps between requests and an exponential one.
    Arrivals,
    /// The busy share of the generator's busiest thread.
    Generator,
    /// The share of the time in which the generator's threads were runnable without a CPU.
    Queued,
    /// The stolen share of this machine's CPU time.
    Steal,
    /// The longest time in seconds without a response after the first one.
    Silence,
    /// The number of samples for percentiles.
    Samples,
    /// The share of the requests without a response when a closed loop ended.
    Unfinished,
    /// The share of the datagrams that this machine's kernel dropped before Torr read them.
    Drops,
    /// The mean number of datagrams that a system call received.
    Bursts,
}

/// The measurement of a criterion, and what its remedy depends on.
///
/// `change` and `deviation` are relative, `share` and `distance` are from 0 to 1, names that end with `_s` are seconds.
/// `scheduled` tells that requests had scheduled times, or were due at a rate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "kebab-case")]
#[allow(missing_docs, reason = "the criterion and the sentence of each in torr-report describe it")]
pub enum Caution {
    Throughput {
        change: f64,
        scheduled: bool,
    },
    Latency {
        change: f64,
        scheduled: bool,
    },
    Silence {
        from_s: f64,
        to_s: f64,
    },
    SendLag {
        p99_us: f64,
    },
    Rate {
        unit: Unit,
        count: u64,
        deviation: f64,
        reason: Option<OffSchedule>,
    },
    Arrivals {
        distance: f64,
        a2: f64,
        gaps: usize,
    },
    Generator {
        share: f64,
        scheduled: bool,
    },
    Queued {
        share: f64,
        others: Vec<ProgramUse>,
    },
    Steal {
        share: f64,
    },
    Unfinished {
        share: f64,
        unfinished: u64,
        started: u64,
    },
    Samples {
        count: u64,
        left_out: Vec<String>,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        of_events: bool,
    },
    Drops {
        share: f64,
        dropped: u64,
        /// The size in bytes of the smallest receive buffer of a socket; 0 if unknown.
        receive_buffer: u64,
    },
    Bursts {
        per_receive: f64,
        received: u64,
    },
}

/// Why a schedule was not kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OffSchedule {
    /// The generator was saturated or late.
    GeneratorBehind,
    /// All connections were waiting for responses, or all users were in sessions.
    AllWaiting,
    /// The generator paused connections after failures.
    Failures,
    /// Nothing was saturated.
    Unknown,
}

impl Caution {
    /// Returns the criterion.
    pub fn criterion(&self) -> Criterion {
        match self {
            Self::Throughput { .. } => Criterion::Throughput,
            Self::Latency { .. } => Criterion::Latency,
            Self::Silence { .. } => Criterion::Silence,
            Self::SendLag { .. } => Criterion::SendLag,
            Self::Rate { .. } => Criterion::Rate,
            Self::Arrivals { .. } => Criterion::Arrivals,
            Self::Generator { .. } => Criterion::Generator,
            Self::Queued { .. } => Criterion::Queued,
            Self::Steal { .. } => Criterion::Steal,
            Self::Unfinished { .. } => Criterion::Unfinished,
            Self::Samples { .. } => Criterion::Samples,
            Self::Drops { .. } => Criterion::Drops,
            Self::Bursts { .. } => Criterion::Bursts,
        }
    }

    /// Returns the measured value in the unit of the criterion.
    pub fn value(&self) -> f64 {
        match self {
            Self::Throughput { change, .. } | Self::Latency { change, .. } => *change,
            Self::Silence { from_s, to_s } => to_s - from_s,
            Self::SendLag { p99_us } => *p99_us,
            Self::Rate { deviation, .. } => *deviation,
            Self::Arrivals { distance, .. } => *distance,
            Self::Generator { share, .. } | Self::Queued { share, .. } => *share,
            Self::Steal { share } | Self::Unfinished { share, .. } | Self::Drops { share, .. } => *share,
            Self::Bursts { per_receive, .. } => *per_receive,
            Self::Samples { count, .. } => *count as f64,
        }
    }
}
