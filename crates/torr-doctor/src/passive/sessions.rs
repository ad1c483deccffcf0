//! Sessions that end early: the throughput of such a run says little of the service.

use crate::thresholds::MANY_FAILED;
use crate::witnesses;
use torr_gauge::verdict::Finding;
use torr_gauge::{Confidence, RunResult};

/// Returns whether too many sessions ended early for the throughput to mean much.
pub fn too_many_failed(run: &RunResult) -> bool {
    witnesses::failed_sessions(run).is_some_and(|share| share > MANY_FAILED)
}

/// Too many sessions ended early.
pub fn rule(run: &RunResult) -> Option<Finding> {
    witnesses::sessions_that_failed(run, Confidence::Likely)
}
