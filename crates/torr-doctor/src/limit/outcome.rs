//! The outcome of a search: the versioned type that all outputs are made from.

use super::disturbance::Disturbance;
use super::found::Spread;
use super::ladder::Rung;
use super::overload::Overload;
use super::reading::Reading;
use super::settings::Settings;
use super::streams::StreamReading;
use super::usl::Fit;
use serde::Serialize;
use torr_gauge::latency::Summary;
use torr_gauge::verdict::{LimitKind, LoadUnit};

/// The version of [`Outcome`]. Within a version fields may be added, and their meaning does not change.
pub const SCHEMA: &str = "torr.limit/1";

/// The outcome of a search for a service's limit.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Outcome {
    /// [`SCHEMA`].
    pub schema: String,
    /// The version of the program.
    pub torr: String,
    /// The URL.
    pub target: String,
    /// When the search began (RFC 3339, UTC).
    pub started_at: String,
    /// The load whose limit was looked for.
    #[serde(skip_serializing_if = "LoadUnit::is_requests")]
    pub unit: LoadUnit,
    /// The objectives.
    pub slo: Vec<String>,
    /// The distribution of arrivals.
    pub arrivals: String,
    /// The time that the search was allowed to take, in seconds.
    pub budget_s: f64,
    /// The time that the search took, in seconds.
    pub spent_s: f64,
    /// The highest permitted rate in requests per second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_rate: Option<f64>,
    /// The most permitted connections.
    pub max_connections: usize,
    /// Whether the search was interrupted.
    pub interrupted: bool,
    /// The kind of result.
    #[serde(rename = "answer")]
    pub kind: LimitKind,
    /// The highest sustained rate, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sustained: Option<Sustained>,
    /// The rates whose steps do not agree with the result, ascending: higher ones that were kept, and others that failed.
    pub spread: Vec<Spread>,
    /// The CPU that other programs used, where it may have made steps fail.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disturbance: Option<Disturbance>,
    /// The lowest load above the sustained one that failed: requests per second, or streams at a time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fails_at: Option<f64>,
    /// The step that failed, from which the reason of the result follows. JSON has that as facts and sentences, which the program adds.
    #[serde(skip)]
    pub failed: Option<Reading>,
    /// Response times of an idle service in microseconds; of streams, the times to the first event.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_us: Option<Summary>,
    /// The usual gap between the events of one stream at a time, in microseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_gap_us: Option<f64>,
    /// Throughput by connections in a closed loop.
    pub ladder: Vec<Rung>,
    /// The fit of throughput by connections to the universal scalability law.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fit: Option<Fit>,
    /// The number of connections at which throughput, extrapolated from light load, would reach its maximum.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub knee: Option<f64>,
    /// The recommended number of connections.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connections: Option<Connections>,
    /// The behaviour above the limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overload: Option<Overload>,
    /// All steps in their order, except those of the ladder. JSON has them with their verdicts, which the program adds.
    #[serde(skip)]
    pub steps: Vec<Reading>,
}

/// A sustained rate.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Sustained {
    /// Requests per second; of streams, those that began.
    pub rate: f64,
    /// The streams, where responses are streams of events.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub streams: Option<StreamReading>,
    /// Response times at the rate; of streams, the times to the first event.
    pub latency_us: Option<Summary>,
    /// The share of the requests that failed.
    pub error_share: f64,
    /// The most connections that were open at a time.
    pub connections: u64,
    /// The measured time in seconds.
    pub seconds: f64,
    /// Whether the rate was confirmed by a second, longer step.
    pub confirmed: bool,
}

/// The connections that the sustained rate needs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Connections {
    /// The mean number of busy connections at the rate: rate times mean response time (Little's law), by the requests in flight on
    /// each, and at most the permitted ones.
    pub busy: f64,
    /// That number plus three standard deviations of a Poisson distribution, as independent users need, and at most the permitted ones.
    pub recommended: u64,
    /// The least mean number of requests that waited for a connection: those beyond what the permitted ones can have in flight. Response
    /// times include that wait.
    pub waiting: f64,
}

impl Sustained {
    /// Returns the load that is sustained: requests per second, or streams at a time.
    pub fn load(&self) -> f64 {
        self.streams.map_or(self.rate, |streams| streams.at_a_time as f64)
    }
}

impl Connections {
    /// Returns the connections for a rate and its mean response time in microseconds.
    pub(super) fn at(rate: f64, mean_us: f64, settings: &Settings) -> Self {
        let (most, depth) = (settings.max_connections as f64, f64::from(settings.depth.max(1)));
        let requests = rate * mean_us / 1e6;
        let recommended = ((requests + 3.0 * requests.sqrt()) / depth).ceil().clamp(1.0, most.max(1.0));
        Self {
            busy: (requests / depth).min(most),
            recommended: recommended as u64,
            waiting: (requests - most * depth).max(0.0),
        }
    }
}
