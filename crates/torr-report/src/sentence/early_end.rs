//! The sentences of the reasons for which agents of a fleet end before the run does.

use crate::human::seconds;
use torr_gauge::fleet::EarlyEnd;

/// Returns the reason for which an agent ended before the run did, or had none, as a clause.
pub fn early_end(end: &EarlyEnd) -> String {
    match end {
        EarlyEnd::NoHeartbeat => "three heartbeats in a row did not arrive".into(),
        EarlyEnd::CountsMissing => "some of its counts did not arrive".into(),
        EarlyEnd::Overdue => "it was still running after the end of the plan".into(),
        EarlyEnd::Stopped { after_s } => format!("stopped on its machine after {}", seconds(*after_s)),
        EarlyEnd::BadMessage { error } | EarlyEnd::Failed { error } => error.clone(),
    }
}
