//! The search for a service's limit as data: the kind of its result, the reason of each step, what an overload does. `torr-report` has
//! their sentences.

use serde::{Deserialize, Serialize};

/// The kind of a search's result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LimitKind {
    /// The limit was found.
    Limit,
    /// The service sustains `--max-rate`; higher rates were not tried.
    AtLeastMaxRate,
    /// The service sustains this rate; the generator was the limit above it.
    AtLeastGenerator,
    /// The service sustains this rate; the permitted number of connections was the limit above it.
    AtLeastConnections,
    /// The service sustains this rate; there was no time to try higher ones.
    AtLeastTime,
    /// The service misses its objectives at the lowest rate.
    Never,
    /// There was no time to find a rate.
    Unknown,
}

/// The load whose limit a search finds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LoadUnit {
    /// Requests per second, in an open loop.
    #[default]
    Requests,
    /// Streams of events that are open at a time.
    Streams,
}

impl LoadUnit {
    /// Returns whether the load is a rate of requests.
    pub fn is_requests(&self) -> bool {
        *self == Self::Requests
    }
}

/// The reason of a search's step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum StepReason {
    /// The response time without load.
    Unloaded,
    /// Fewer requests than those that failed.
    FewerRequests,
    /// The throughput of a number of connections in a closed loop.
    Rung(usize),
    /// A share of the closed loop's throughput.
    ShareOfClosedLoop(f64),
    /// A low rate to begin with.
    LowRate,
    /// A rate between two that were tried, in requests per second.
    Between {
        /// The rate that was sustained.
        kept_rps: f64,
        /// The rate that failed.
        failed_rps: f64,
    },
    /// One stream of events at a time.
    StreamAlone,
    /// A number of streams of events that are open at a time.
    Streams(usize),
    /// A number of open streams between two that were tried.
    BetweenStreams {
        /// The number that was sustained.
        kept: usize,
        /// The number that failed.
        failed: usize,
    },
    /// The rate that was found, for longer.
    Longer,
    /// Another try of a rate, which noise may have made fail.
    Again,
    /// The lowest rate that failed, as the machine may have made it fail.
    FailedRateAgain,
    /// This multiple of the limit.
    Overload(f64),
    /// The wait for response times as before.
    Settle,
}

/// What a search would have found next when it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SearchGoal {
    /// A rate that can be tried.
    AnyRate,
    /// A rate that the service sustains.
    SustainedRate,
    /// A rate that fails.
    FailedRate,
    /// The limit, more closely.
    CloserLimit,
}

/// The behaviour of a service under overload.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Course {
    /// Throughput is kept, and response times recover after the overload.
    Recovers,
    /// Throughput falls well below the limit, and recovers afterwards.
    Collapses,
    /// Response times do not recover within the wait.
    StaysSlow,
}

/// An overload and what it did.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct OverloadEffect {
    /// The offered rate as a ratio to the limit.
    pub factor: f64,
    /// The offered rate in requests per second.
    pub rps: f64,
    /// The number of streams that were to be open at a time, where responses are streams of events.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub streams: Option<u64>,
    /// Good responses as a share of the limit; of streams, events.
    pub good_share: f64,
    /// The 99th percentile of response times in seconds; of streams, of the gaps between events. `None` with few of them.
    pub p99_s: Option<f64>,
    /// The share of the requests that failed.
    pub failed_share: f64,
    /// The behaviour of the service.
    pub course: Course,
    /// The seconds without load after which response times were as before. `None` if they were not in `waited_s`.
    pub recovered_s: Option<f64>,
    /// The longest wait in seconds.
    pub waited_s: f64,
}
