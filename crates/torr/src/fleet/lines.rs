//! What a user hears of a fleet at once: errors, and events of a run, each in one line.

use torr_fleet::{FleetError, RunEvent};
use torr_report::sentence;

/// Returns the error of a fleet in one line.
pub fn line(error: &FleetError) -> String {
    match error {
        FleetError::NoInterval(because_of) => sentence::fleet::no_result(because_of.as_ref()),
        error => error.to_string(),
    }
}

/// Returns an event of a run in one line.
pub fn event(event: RunEvent<'_>) -> String {
    match event {
        RunEvent::AgentLost { agent, why } => sentence::fleet::lost(agent.as_str(), why),
        RunEvent::StoppedByCommand => "'torr fleet stop' stopped the run".into(),
    }
}
