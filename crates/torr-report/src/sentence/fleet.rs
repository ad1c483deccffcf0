//! The sentences of a run over a fleet: what became of its agents, and which part of the run the result covers.

use super::early_end::early_end;
use super::fact::fact;
use crate::human::plural;
use torr_gauge::fleet::{AgentState, EarlyEnd, Fleet, FleetAgent};
use torr_gauge::verdict::Fact;

/// Writes the reason of each agent that has one. Those of a result of another version stay as they are.
pub fn write(fleet: &mut Fleet) {
    for agent in &mut fleet.agents {
        agent.note = reason(agent);
    }
}

/// Returns a line for each reason for which the result is not that of the whole run.
pub fn shortcomings(fleet: &Fleet) -> Vec<String> {
    let mut lines: Vec<_> = fleet.agents.iter().filter_map(shortcoming).collect();
    lines.extend(fleet.cut.map(|cut| {
        let covered = fact(&Fact::FiguresUntil { at_s: cut.at_s });
        match cut.requests_after {
            0 => covered,
            n => format!("{covered}; {} after that are left out", plural(n, "response")),
        }
    }));
    if fleet.cut.is_some_and(|cut| cut.has_sessions) {
        lines.push("sessions and entries cover the other agents only, to the end of the run".into());
    }
    lines
}

/// Returns that an agent was lost.
pub fn lost(agent: &str, why: &EarlyEnd) -> String {
    format!("agent {agent} was lost: {}", early_end(why))
}

/// Returns that a run has no result, because of an agent where that is known.
pub fn no_result(because_of: Option<&(String, EarlyEnd)>) -> String {
    let why = match because_of {
        Some((agent, EarlyEnd::Failed { error })) => format!("agent {agent} failed: {error}"),
        Some((agent, why)) => lost(agent, why),
        None => "no agent completed it".into(),
    };
    format!("no result, not even of the first second: {why}")
}

fn reason(agent: &FleetAgent) -> Option<String> {
    agent.fact.as_ref().map(early_end).or_else(|| agent.note.clone())
}

fn shortcoming(agent: &FleetAgent) -> Option<String> {
    let reason = reason(agent);
    let became = match agent.state {
        AgentState::Ended => return None,
        // Without a reason it ended with the run.
        AgentState::Stopped if reason.is_none() => return None,
        AgentState::Stopped => "ended early",
        AgentState::Failed => "failed",
        AgentState::Lost => "was lost",
    };
    let reason = reason.map_or(String::new(), |reason| format!(": {reason}"));
    Some(format!("agent {} {became}{reason}", agent.name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use torr_gauge::fleet::FleetCut;

    fn agent(name: &str, state: AgentState, fact: Option<EarlyEnd>) -> FleetAgent {
        FleetAgent { name: name.into(), state, fact, ..FleetAgent::default() }
    }

    #[test]
    fn what_became_of_agents_and_the_cut_are_named() {
        let agents = vec![
            agent("a", AgentState::Ended, None),
            agent("b", AgentState::Lost, Some(EarlyEnd::NoHeartbeat)),
            agent("c", AgentState::Stopped, Some(EarlyEnd::Stopped { after_s: 3.0 })),
            agent("d", AgentState::Stopped, None),
            agent("e", AgentState::Failed, Some(EarlyEnd::Failed { error: "no file".into() })),
        ];
        let cut = FleetCut { at_s: 3.0, requests_after: 70, errors_after: 0, has_sessions: true };
        let mut fleet = Fleet { agents, cut: Some(cut), ..Fleet::default() };
        let lines = [
            "agent b was lost: three heartbeats in a row did not arrive",
            "agent c ended early: stopped on its machine after 3.00 s",
            "agent e failed: no file",
            "the figures cover the first 3.00 s, with all agents; 70 responses after that are left out",
            "sessions and entries cover the other agents only, to the end of the run",
        ];
        assert_eq!(shortcomings(&fleet), lines);
        write(&mut fleet);
        assert_eq!(fleet.agents[4].note.as_deref(), Some("no file"));
        assert_eq!(shortcomings(&fleet), lines, "also with the sentences in it");
    }

    #[test]
    fn an_older_result_keeps_its_words() {
        let older = FleetAgent { note: Some("killed".into()), ..agent("b", AgentState::Lost, None) };
        let mut fleet = Fleet { agents: vec![older], ..Fleet::default() };
        write(&mut fleet);
        assert_eq!(shortcomings(&fleet), ["agent b was lost: killed"]);
        assert_eq!(fleet.agents[0].note.as_deref(), Some("killed"));
    }

    #[test]
    fn a_run_without_a_result_says_why() {
        let because = |why| no_result(Some(&("a".to_owned(), why)));
        assert!(
            because(EarlyEnd::Overdue).ends_with(": agent a was lost: it was still running after the end of the plan")
        );
        assert!(because(EarlyEnd::Failed { error: "no file".into() }).ends_with(": agent a failed: no file"));
        assert!(no_result(None).ends_with(": no agent completed it"));
    }
}
