//! Blocks: a turn of each version, close enough in time to share what else goes on.

use crate::metric::Metric;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;

/// A turn of one version.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Turn {
    /// The value of each metric that could be measured.
    pub values: BTreeMap<Metric, f64>,
    /// The mean response time in microseconds at the fixed rate. It stands beside the CPU time and is not compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean_us: Option<f64>,
    /// Why the turn shows something else than the version; empty if it does not.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub invalid: Vec<InvalidReason>,
    /// Why the throughput alone shows something else.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub throughput_invalid: Vec<InvalidReason>,
}

/// Why a run shows something else than its server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum InvalidReason {
    /// A thread of the generator was saturated.
    GeneratorSaturated,
    /// The hypervisor took CPU time from this machine.
    HypervisorSteal,
    /// The fixed rate was not kept.
    RateMissed,
    /// The user interrupted the run.
    Interrupted,
}

impl fmt::Display for InvalidReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::GeneratorSaturated => "generator saturated",
            Self::HypervisorSteal => "hypervisor steal",
            Self::RateMissed => "rate missed",
            Self::Interrupted => "interrupted",
        })
    }
}

/// The version of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// The first.
    A,
    /// The second.
    B,
}

/// A turn of A and a turn of B; while the noise is measured, two turns of A.
#[derive(Debug, Clone, Serialize)]
pub struct Block {
    /// The version whose turn was first.
    pub first: Side,
    /// The turn of A.
    pub a: Turn,
    /// The turn of B.
    pub b: Turn,
}

impl Block {
    /// Returns the values of A and B, `None` if one was not measured or is invalid.
    pub fn pair(&self, metric: Metric) -> Option<[f64; 2]> {
        let value = |turn: &Turn| {
            let spoilt =
                !turn.invalid.is_empty() || (metric == Metric::Throughput && !turn.throughput_invalid.is_empty());
            turn.values.get(&metric).copied().filter(|_| !spoilt)
        };
        Some([value(&self.a)?, value(&self.b)?])
    }

    /// Returns the logarithm of the ratio of B to A, `None` if one was not measured or is invalid.
    pub fn log_ratio(&self, metric: Metric) -> Option<f64> {
        let [a, b] = self.pair(metric)?;
        metric.log_ratio(a, b)
    }

    /// Whether a turn shows something else than its version.
    pub fn is_invalid(&self) -> bool {
        !self.a.invalid.is_empty() || !self.b.invalid.is_empty()
    }
}
