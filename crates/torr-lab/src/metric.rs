//! What is compared of two versions.

use serde::Serialize;
use torr_gauge::latency::Summary;
use torr_gauge::{Latency, RunResult};

/// The times that a percentile is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Times {
    /// From due to the last byte. How long a stream of events lasts is by design, and not compared.
    Responses,
    /// From due to the first event of a stream.
    FirstEvents,
    /// Between two events of a stream.
    Gaps,
}

impl Times {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Responses, Self::FirstEvents, Self::Gaps];

    /// Returns the summary of these times of a run, if it has them.
    pub fn summary(self, run: &RunResult) -> Option<Summary> {
        match (self, &run.streams) {
            (Self::Responses, None) => run.latency_us,
            (Self::FirstEvents, Some(streams)) => streams.first_event_us,
            (Self::Gaps, Some(streams)) => streams.gap_us,
            _ => None,
        }
    }

    /// Returns all of these times of a run, none if it does not have them.
    pub fn latency(self, run: &RunResult) -> Latency {
        match (self, &run.streams) {
            (Self::Responses, None) => run.latency_histogram.latency(),
            (Self::FirstEvents, Some(streams)) => streams.first_event_histogram.latency(),
            (Self::Gaps, Some(streams)) => streams.gap_histogram.latency(),
            _ => Latency::default(),
        }
    }
}

/// A measure of a version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    /// The server's CPU time for each response in microseconds, at the fixed rate.
    Cpu,
    /// The server's CPU time for each event of a stream in microseconds.
    EventCpu,
    /// Good responses per second of a closed loop.
    Throughput,
    /// Events per second of all streams.
    Events,
    /// The median response time in microseconds, at the fixed rate.
    P50,
    /// The 90th percentile of response times.
    P90,
    /// The 99th percentile of response times.
    P99,
    /// The 99.9th percentile of response times.
    #[serde(rename = "p99_9")]
    P999,
    /// The median time to the first event of a stream in microseconds.
    FirstEventP50,
    /// The 99th percentile of times to the first event.
    FirstEventP99,
    /// The median time between two events of a stream in microseconds.
    GapP50,
    /// The 99th percentile of times between events.
    GapP99,
    /// The share of failed requests, 0 to 1.
    Errors,
    /// The resident memory of the server's processes in bytes.
    Memory,
    /// The instructions in user space for each response at the fixed rate, where the CPU counts them.
    Instructions,
}

impl Metric {
    /// All metrics, the steadiest first.
    pub const ALL: [Self; 15] = [
        Self::Cpu,
        Self::EventCpu,
        Self::Instructions,
        Self::Throughput,
        Self::Events,
        Self::P50,
        Self::P90,
        Self::P99,
        Self::P999,
        Self::FirstEventP50,
        Self::FirstEventP99,
        Self::GapP50,
        Self::GapP99,
        Self::Errors,
        Self::Memory,
    ];

    /// Returns the name, as thresholds have it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::EventCpu => "event_cpu",
            Self::Throughput => "throughput",
            Self::Events => "events",
            Self::FirstEventP50 => "first_event_p50",
            Self::FirstEventP99 => "first_event_p99",
            Self::GapP50 => "gap_p50",
            Self::GapP99 => "gap_p99",
            Self::P50 => "p50",
            Self::P90 => "p90",
            Self::P99 => "p99",
            Self::P999 => "p99.9",
            Self::Errors => "errors",
            Self::Memory => "memory",
            Self::Instructions => "instructions",
        }
    }

    /// Returns the times and the quantile of a percentile.
    pub fn percentile(self) -> Option<(Times, f64)> {
        Some(match self {
            Self::P50 => (Times::Responses, 0.5),
            Self::P90 => (Times::Responses, 0.9),
            Self::P99 => (Times::Responses, 0.99),
            Self::P999 => (Times::Responses, 0.999),
            Self::FirstEventP50 => (Times::FirstEvents, 0.5),
            Self::FirstEventP99 => (Times::FirstEvents, 0.99),
            Self::GapP50 => (Times::Gaps, 0.5),
            Self::GapP99 => (Times::Gaps, 0.99),
            Self::Cpu
            | Self::EventCpu
            | Self::Instructions
            | Self::Throughput
            | Self::Events
            | Self::Errors
            | Self::Memory => return None,
        })
    }

    /// Returns the logarithm of the ratio of two values, the measure of their difference. Shares of errors, which are mostly
    /// 0, differ by percentage points: the ratio is that of one plus the share. `None` if a value is 0 or less otherwise.
    pub fn log_ratio(self, a: f64, b: f64) -> Option<f64> {
        match self {
            Self::Errors => Some(((1.0 + b) / (1.0 + a)).ln()),
            _ => (a > 0.0 && b > 0.0).then(|| (b / a).ln()),
        }
    }
}
