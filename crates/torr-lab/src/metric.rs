//! What is compared of two versions.

use serde::Serialize;

/// A measure of a version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    /// The server's CPU time for each response in microseconds, at the fixed rate.
    Cpu,
    /// Good responses per second of a closed loop.
    Throughput,
    /// The median response time in microseconds, at the fixed rate.
    P50,
    /// The 90th percentile of response times.
    P90,
    /// The 99th percentile of response times.
    P99,
    /// The 99.9th percentile of response times.
    #[serde(rename = "p99_9")]
    P999,
    /// The share of failed requests, 0 to 1.
    Errors,
    /// The resident memory of the server's processes in bytes.
    Memory,
    /// The instructions in user space for each response at the fixed rate, where the CPU counts them.
    Instructions,
}

impl Metric {
    /// All metrics, the steadiest first.
    pub const ALL: [Self; 9] = [
        Self::Cpu,
        Self::Instructions,
        Self::Throughput,
        Self::P50,
        Self::P90,
        Self::P99,
        Self::P999,
        Self::Errors,
        Self::Memory,
    ];

    /// Returns the name, as thresholds have it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::Throughput => "throughput",
            Self::P50 => "p50",
            Self::P90 => "p90",
            Self::P99 => "p99",
            Self::P999 => "p99.9",
            Self::Errors => "errors",
            Self::Memory => "memory",
            Self::Instructions => "instructions",
        }
    }

    /// Returns the quantile of a percentile.
    pub fn quantile(self) -> Option<f64> {
        match self {
            Self::P50 => Some(0.5),
            Self::P90 => Some(0.9),
            Self::P99 => Some(0.99),
            Self::P999 => Some(0.999),
            _ => None,
        }
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
