//! What the search came to: one versioned type that every output is made from.

use super::disturbance::Disturbance;
use super::found::Spread;
use super::ladder::Rung;
use super::overload::Overload;
use super::reading::Reading;
use super::usl::Fit;
use serde::{Deserialize, Serialize};
use torr_gauge::Verdict;
use torr_gauge::latency::Summary;

/// The version of [`Outcome`]. Fields may be added to it; what one means does not change.
pub const SCHEMA: &str = "torr.limit/1";

/// All that is known of a service's limit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// [`SCHEMA`].
    pub schema: String,
    /// The version of the program.
    pub torr: String,
    /// The URL.
    pub target: String,
    /// When the search began (RFC 3339, UTC).
    pub started_at: String,
    /// What the service was to keep to.
    pub slo: Vec<String>,
    /// How requests were spread over time.
    pub arrivals: String,
    /// The most time that it might take, in seconds.
    pub budget_s: f64,
    /// What it took.
    pub spent_s: f64,
    /// Never more requests per second than this.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub max_rate: Option<f64>,
    /// Never more connections than this.
    pub max_connections: usize,
    /// Whether somebody ended it early.
    pub interrupted: bool,
    /// The answer.
    pub answer: Answer,
    /// Why it is no other.
    pub reason: String,
    /// Both in a sentence.
    pub summary: String,
    /// What it sustains, if anything.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub sustained: Option<Sustained>,
    /// The rates whose steps do not agree with the answer, ascending: higher ones that were kept, and others that failed.
    #[serde(default)]
    pub spread: Vec<Spread>,
    /// What others took of the machine's CPU, where it may have made steps fail.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub disturbance: Option<Disturbance>,
    /// The lowest rate above the sustained one that failed, in requests per second.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub fails_at: Option<f64>,
    /// Why it failed there.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub failure: Option<String>,
    /// What seemed to limit the service there, from that step alone.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub verdict: Option<Verdict>,
    /// Response times of the service when it has nothing else to do, in microseconds.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub base_us: Option<Summary>,
    /// Throughput over connections, in a closed loop.
    pub ladder: Vec<Rung>,
    /// The law of throughput over connections.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub fit: Option<Fit>,
    /// Where throughput bends: the number of connections at which the line of the light load meets the ceiling.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub knee: Option<f64>,
    /// How many connections to have.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub connections: Option<Connections>,
    /// What happens above the limit.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub overload: Option<Overload>,
    /// All steps but those of the ladder, in their order.
    pub steps: Vec<Reading>,
}

/// What kind of answer there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    /// The service's limit.
    Limit,
    /// It sustains this; more was not asked for, as `--max-rate` says.
    AtLeastMaxRate,
    /// It sustains this; the generator cannot tell of more.
    AtLeastGenerator,
    /// It sustains this with as many connections as were allowed, and these were what held it back.
    AtLeastConnections,
    /// It sustains this; there was no time to try more.
    AtLeastTime,
    /// It does not keep to its objectives at the lowest rate.
    Never,
    /// There was no time to find out.
    Unknown,
}

impl Answer {
    /// Whether the service may sustain more.
    pub fn is_at_least(self) -> bool {
        matches!(self, Self::AtLeastMaxRate | Self::AtLeastGenerator | Self::AtLeastConnections | Self::AtLeastTime)
    }
}

/// A rate that is sustained.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Sustained {
    /// Requests per second.
    pub rate: f64,
    /// Response times at it.
    pub latency_us: Option<Summary>,
    /// The share of the requests that failed.
    pub error_share: f64,
    /// The most connections at a time.
    pub connections: u64,
    /// For how many seconds it was measured.
    pub seconds: f64,
    /// Whether it was pressed once more, and kept to its objectives again.
    pub confirmed: bool,
}

/// How many connections to have.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Connections {
    /// Requests under way at a time at the limit, on average: rate times mean response time (Little's law).
    pub busy: f64,
    /// With three standard deviations of a Poisson distribution on top, as independent users need them.
    pub recommended: u64,
}

impl Connections {
    /// For a rate and its mean response time in microseconds.
    pub(super) fn at(rate: f64, mean_us: f64) -> Self {
        let busy = rate * mean_us / 1e6;
        Self { busy, recommended: (busy + 3.0 * busy.sqrt()).ceil().max(1.0) as u64 }
    }
}
