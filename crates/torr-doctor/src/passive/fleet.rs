//! A fleet of which an agent was lost, or ended early: the load was another one from then on.

use super::seen::undecided;
use crate::words::percent;
use torr_gauge::fleet::{Fleet, FleetAgent};
use torr_gauge::{RunResult, Verdict};

/// An agent was lost, or ended before the run did.
pub fn rule(run: &RunResult) -> Option<Verdict> {
    let fleet = run.fleet.as_ref()?;
    lost(fleet).or_else(|| ended_early(fleet))
}

/// An agent was lost: what the service did under the whole load is known up to then at most.
fn lost(fleet: &Fleet) -> Option<Verdict> {
    let summary = "An agent was lost, so this run does not tell what limits the service.";
    let line = |agent: &FleetAgent| {
        let why = agent.note.as_ref().map_or_else(String::new, |why| format!(": {why}"));
        format!("the agent {} with {} of the load was lost{why}", agent.name, percent(agent.share))
    };
    let verdict = because_of(fleet.lost(), summary, line)?;
    let verdict =
        verdict.because_if(fleet.cut.map(|cut| format!("the figures cover the first {} s, with all agents", cut.at_s)));
    Some(verdict.advice("run again with agents that stay"))
}

fn ended_early(fleet: &Fleet) -> Option<Verdict> {
    let summary = "A part of the load ended early, so this run does not tell what limits the service.";
    let line = |agent: &FleetAgent| {
        format!("the agent {} with {} of the load ended before the run did", agent.name, percent(agent.share))
    };
    Some(because_of(fleet.ended_early(), summary, line)?.advice("press again with agents that stay"))
}

/// Returns the verdict that nothing can be said, with a line for each of these agents; `None` without agents.
fn because_of<'a>(
    agents: impl Iterator<Item = &'a FleetAgent>,
    summary: &str,
    line: impl Fn(&FleetAgent) -> String,
) -> Option<Verdict> {
    let lines: Vec<_> = agents.map(line).collect();
    let verdict = lines.iter().fold(undecided(summary), |verdict, line| verdict.because(line));
    (!lines.is_empty()).then_some(verdict)
}
