//! A fleet of which an agent was lost, or ended early: the load was another one from then on.

use super::seen::undecided;
use torr_gauge::RunResult;
use torr_gauge::fleet::{Fleet, FleetAgent};
use torr_gauge::verdict::{Advice, Fact, Finding, Headline};

/// An agent was lost, or ended before the run did.
pub fn rule(run: &RunResult) -> Option<Finding> {
    let fleet = run.fleet.as_ref()?;
    lost(fleet).or_else(|| ended_early(fleet))
}

/// An agent was lost: what the service did under the whole load is known up to then at most.
fn lost(fleet: &Fleet) -> Option<Finding> {
    let fact =
        |agent: &FleetAgent| Fact::AgentLost { agent: agent.name.clone(), share: agent.share, why: agent.fact.clone() };
    let finding = because_of(fleet.lost().map(fact), Headline::AgentLost)?;
    Some(finding.because(fleet.cut.map(|cut| Fact::FiguresUntil { at_s: cut.at_s })))
}

fn ended_early(fleet: &Fleet) -> Option<Finding> {
    let fact = |agent: &FleetAgent| Fact::AgentEnded { agent: agent.name.clone(), share: agent.share };
    because_of(fleet.ended_early().map(fact), Headline::LoadEndedEarly)
}

/// Returns the finding that nothing is known, with a fact for each agent; `None` without agents.
fn because_of(facts: impl Iterator<Item = Fact>, headline: Headline) -> Option<Finding> {
    let finding = undecided(headline).because(facts).advice(Advice::KeepAgents);
    (!finding.because.is_empty()).then_some(finding)
}
