//! A run of a few requests: its figures are those of single requests, and show no limit.

use super::seen::undecided;
use crate::thresholds::FEW_RESPONSES;
use torr_gauge::RunResult;
use torr_gauge::verdict::{Advice, Fact, Finding, Headline};

/// The run was one of a few requests, which were answered.
pub fn rule(run: &RunResult) -> Option<Finding> {
    let is_few = run.requests < FEW_RESPONSES && run.plan.requests.is_some_and(|planned| planned < FEW_RESPONSES);
    (is_few && run.sessions.is_none() && run.requests > 0 && run.errors.total() == 0).then(|| {
        undecided(Headline::FewRequests)
            .because(Fact::Responses { responses: run.requests })
            .advice(Advice::MoreRequests)
    })
}
