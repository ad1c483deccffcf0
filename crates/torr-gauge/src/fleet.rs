//! The part of a result that a run over several machines adds: a row for each agent.

use serde::{Deserialize, Serialize};

/// The fleet of a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Fleet {
    /// The fleet's name.
    pub name: String,
    /// The run's identifier.
    pub run: String,
    /// The agents, in the order of their numbers.
    pub agents: Vec<FleetAgent>,
    /// The longest time in microseconds between the real starts of two agents, as they report them.
    pub start_spread_us: u64,
    /// The cut, if agents were lost: the result covers only the time before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut: Option<FleetCut>,
}

/// The end of a result that was cut because agents were lost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FleetCut {
    /// The end of the last interval that all agents had, in seconds since the measurement began.
    pub at_s: f64,
    /// The number of complete responses after the cut that agents reported. The result does not count them.
    pub requests_after: u64,
    /// The number of failed requests after the cut that agents reported. The result does not count them.
    pub errors_after: u64,
    /// Whether the run had sessions. They and their entries are reported at the end only: those of the result are of the agents
    /// that were not lost, the time after the cut included.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_sessions: bool,
}

/// One agent of a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FleetAgent {
    /// The agent's name.
    pub name: String,
    /// The outcome of the agent's part of the run.
    pub state: AgentState,
    /// The agent's part of the load, 0 to 1.
    pub share: f64,
    /// The number of its connections.
    pub connections: usize,
    /// The requests per second that were due from it, in an open loop of constant rate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<f64>,
    /// Complete responses per second within the result.
    pub rps: f64,
    /// The number of complete responses within the result.
    pub requests: u64,
    /// The number of failed requests within the result, responses with a status of 400 or more included.
    pub errors: u64,
    /// The share of the time in which its busiest thread was not idle, 0 to 1; `None` if the agent was lost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub busy_share: Option<f64>,
    /// The 99th percentile of its send lag in microseconds, in an open loop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub send_lag_p99_us: Option<u64>,
    /// The time in microseconds by which the agent began after the time that the coordinator set, negative if before; `None` if
    /// the agent did not report its start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub began_us: Option<i64>,
    /// The limit of the error of its clock's offset in microseconds: half of the shortest round trip.
    pub clock_error_us: u64,
    /// Whether the agent was itself the limit: saturated, or behind its own schedule.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub was_limit: bool,
    /// The agent's own verdict in one sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<String>,
    /// The reason for which the agent ended before the run did; `None` if it did not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// The outcome of an agent's part of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AgentState {
    /// The agent came to the end of its part.
    #[default]
    Ended,
    /// The agent was stopped before the end.
    Stopped,
    /// The agent could not run its part, or its run ended with an error.
    Failed,
    /// The coordinator lost the agent: no heartbeat for the time of three, counts that did not arrive, or no end with the plan.
    Lost,
}

impl Fleet {
    /// Returns the agents whose counts are not all in the result, because they were lost or had no run.
    pub fn lost(&self) -> impl Iterator<Item = &FleetAgent> {
        let has_cut = self.cut.is_some();
        self.agents.iter().filter(move |agent| match agent.state {
            AgentState::Lost => true,
            AgentState::Failed => has_cut,
            AgentState::Ended | AgentState::Stopped => false,
        })
    }

    /// Returns the agents that ended before the end of the result, so that their part of the load is not in the rest of it.
    pub fn ended_early(&self) -> impl Iterator<Item = &FleetAgent> {
        let has_cut = self.cut.is_some();
        self.agents.iter().filter(move |agent| match agent.state {
            AgentState::Stopped => agent.note.is_some(),
            // The result ends where an agent without a run does.
            AgentState::Failed => !has_cut,
            AgentState::Ended | AgentState::Lost => false,
        })
    }

    /// Returns a line for each reason for which the result is not that of the whole run.
    pub fn shortcomings(&self) -> Vec<String> {
        let mut lines: Vec<_> = self.agents.iter().filter_map(FleetAgent::shortcoming).collect();
        lines.extend(self.cut.map(|cut| {
            let after = match cut.requests_after {
                0 => String::new(),
                n => format!("; the {n} responses after that are not in it"),
            };
            format!("the result covers the first {} s, in which all agents were there{after}", cut.at_s)
        }));
        if self.cut.is_some_and(|cut| cut.has_sessions) {
            lines.push("sessions and entries are those of the other agents, to the end of the run".into());
        }
        lines
    }
}

impl FleetAgent {
    fn shortcoming(&self) -> Option<String> {
        let note = self.note.as_ref().map_or(String::new(), |note| format!(": {note}"));
        match self.state {
            AgentState::Ended => None,
            // With the run.
            AgentState::Stopped if self.note.is_none() => None,
            AgentState::Stopped => Some(format!("the agent {} ended early{note}", self.name)),
            AgentState::Failed => Some(format!("the agent {} failed{note}", self.name)),
            AgentState::Lost => Some(format!("the agent {} was lost{note}", self.name)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_and_its_reason_are_named() {
        let lost = FleetAgent { name: "b".into(), state: AgentState::Lost, ..FleetAgent::default() };
        let slow = FleetAgent { name: "a".into(), was_limit: true, ..FleetAgent::default() };
        let cut = FleetCut { at_s: 3.0, requests_after: 70, errors_after: 0, has_sessions: true };
        let fleet = Fleet { agents: vec![slow, lost], cut: Some(cut), ..Fleet::default() };
        assert_eq!(fleet.ended_early().count(), 0, "the result ends with the lost agent");
        assert_eq!(fleet.lost().map(|agent| &agent.name[..]).collect::<Vec<_>>(), ["b"]);
        let lines = fleet.shortcomings();
        assert_eq!(lines[0], "the agent b was lost");
        assert!(lines[2].starts_with("sessions and entries"), "{lines:?}");
        assert!(lines[1].contains("first 3 s") && lines[1].contains("the 70 responses"), "{lines:?}");
    }

    #[test]
    fn an_agent_that_ended_before_the_run_is_named_and_one_that_ended_with_it_is_not() {
        let stopped = |name: &str, note: Option<&str>| FleetAgent {
            name: name.into(),
            state: AgentState::Stopped,
            note: note.map(str::to_owned),
            ..FleetAgent::default()
        };
        let agents = vec![stopped("a", None), stopped("b", Some("it was stopped"))];
        let fleet = Fleet { agents, ..Fleet::default() };
        assert_eq!(fleet.ended_early().map(|agent| &agent.name[..]).collect::<Vec<_>>(), ["b"]);
        assert_eq!(fleet.shortcomings(), ["the agent b ended early: it was stopped"]);
    }
}
