//! A run of a few requests: its figures are those of single requests, and show no limit.

use super::seen::undecided;
use crate::thresholds::FEW_RESPONSES;
use crate::words::counted;
use torr_gauge::{RunResult, Verdict};

/// The run was one of a few requests, which were answered.
pub fn rule(run: &RunResult) -> Option<Verdict> {
    let is_few = run.requests < FEW_RESPONSES && run.plan.requests.is_some_and(|planned| planned < FEW_RESPONSES);
    (is_few && run.sessions.is_none() && run.requests > 0 && run.errors.total() == 0).then(|| {
        undecided("A few requests do not show what limits the service.")
            .because(format!("there were {} only", counted(run.requests as usize, "response")))
            .advice("send more requests with -n, or load for some seconds with -d")
    })
}
