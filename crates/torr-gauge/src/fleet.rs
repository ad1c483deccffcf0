//! The part of a result that a run over several machines adds: a row for each agent.

use crate::known;
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
    /// The reason for which the agent ended before the run did, or had none; `None` if it ended with the run, and in a result of
    /// another version.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "known::one")]
    pub fact: Option<EarlyEnd>,
    /// The reason as a sentence. `None` until `torr-report` has written it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// The reason for which an agent ended before the run did, or had none. `torr-report` has a sentence for each.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "kebab-case")]
pub enum EarlyEnd {
    /// Three heartbeats in a row did not arrive.
    NoHeartbeat,
    /// Some of the agent's counts did not arrive.
    CountsMissing,
    /// The agent was still running after the end of the plan.
    Overdue,
    /// A message of the agent cannot be read, or cannot be true.
    BadMessage {
        /// The error, printable.
        error: String,
    },
    /// The agent was stopped on its machine.
    Stopped {
        /// The duration of its part in seconds.
        after_s: f64,
    },
    /// The agent reported an error.
    Failed {
        /// The error in the agent's words, printable.
        error: String,
    },
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
            // Others were stopped with the run.
            AgentState::Stopped => agent.has_reason(),
            // The result ends where an agent without a run does.
            AgentState::Failed => !has_cut,
            AgentState::Ended | AgentState::Lost => false,
        })
    }
}

impl FleetAgent {
    /// Returns whether the reason is known for which the agent ended before the run did.
    fn has_reason(&self) -> bool {
        self.fact.is_some() || self.note.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_agent_that_ended_before_the_run_is_named_and_one_that_ended_with_it_is_not() {
        let agent = |name: &str, state: AgentState, fact: Option<EarlyEnd>, note: Option<&str>| FleetAgent {
            name: name.into(),
            state,
            fact,
            note: note.map(str::to_owned),
            ..FleetAgent::default()
        };
        let agents = vec![
            agent("a", AgentState::Stopped, None, None),
            agent("b", AgentState::Stopped, Some(EarlyEnd::Stopped { after_s: 3.0 }), None),
            // Of an older result.
            agent("c", AgentState::Stopped, None, Some("stopped")),
            agent("d", AgentState::Lost, Some(EarlyEnd::NoHeartbeat), None),
        ];
        let fleet = Fleet { agents, ..Fleet::default() };
        assert_eq!(fleet.ended_early().map(|agent| &*agent.name).collect::<Vec<_>>(), ["b", "c"]);
        assert_eq!(fleet.lost().map(|agent| &*agent.name).collect::<Vec<_>>(), ["d"]);
    }

    #[test]
    fn a_reason_of_another_version_is_left_out() {
        let agent = |fact| json!({"name": "a", "state": "lost", "fact": fact, "note": "as it was"});
        let read = |fact| serde_json::from_value::<FleetAgent>(agent(fact)).expect("it can be read");
        assert_eq!(read(json!({"name": "no-heartbeat"})).fact, Some(EarlyEnd::NoHeartbeat));
        let other = read(json!({"name": "of-another-version", "x": 1}));
        assert_eq!((other.fact, other.note.as_deref()), (None, Some("as it was")));
    }
}
