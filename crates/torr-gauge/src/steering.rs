//! The interventions of the operator in a running load.

use serde::{Deserialize, Serialize};

/// An intervention in a run.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SteeringEvent {
    /// Seconds since the measurement began.
    pub t: f64,
    /// The kind of the intervention.
    pub what: SteeringKind,
    /// The new share of the planned rate, or the new number of connections; absent with any other kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
}

/// The kinds of interventions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SteeringKind {
    /// No request begins from here on.
    Pause,
    /// Requests begin again.
    Resume,
    /// The rate is `value` times the planned one.
    Rate,
    /// At most `value` connections are used.
    Connections,
    /// A moment was marked; nothing changed.
    Mark,
    /// The run was ended before its time.
    End,
}

impl SteeringKind {
    /// Whether the load changed by it, so that the run is no longer one of steady load.
    pub fn changes_load(self) -> bool {
        !matches!(self, Self::Mark | Self::End)
    }
}
