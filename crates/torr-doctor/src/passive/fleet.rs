//! A fleet of which an agent ended early: the load was another one from then on.

use super::seen::undecided;
use crate::words::percent;
use torr_gauge::fleet::Fleet;
use torr_gauge::{RunResult, Verdict};

/// An agent ended before the run did.
pub fn rule(run: &RunResult) -> Option<Verdict> {
    let early: Vec<_> = run.fleet.iter().flat_map(Fleet::ended_early).collect();
    if early.is_empty() {
        return None;
    }
    let summary = "A part of the load ended early, so this run does not tell what limits the service.";
    let verdict = early.iter().fold(undecided(summary), |verdict, agent| {
        let (name, part) = (&agent.name, percent(agent.share));
        verdict.because(format!("the agent {name} with {part} of the load ended before the run did"))
    });
    Some(verdict.advice("press again with agents that stay"))
}
