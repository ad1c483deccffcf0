//! Which agents of a fleet take part in a run.

use crate::error::FleetError;
use crate::message::{Hello, VERSION};
use crate::subject::FleetName;
use std::collections::BTreeMap;
use std::time::Duration;

/// The agents that take part in a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Members {
    /// All that respond while agents are waited for.
    All,
    /// So many: the first ones in the order of their names.
    Count(usize),
    /// These, by their names.
    Named(Vec<FleetName>),
}

impl Members {
    /// Whether all that are wanted are among the free agents.
    pub(crate) fn are_among(&self, found: &BTreeMap<FleetName, Hello>) -> bool {
        let is_free = |hello: &Hello| hello.run.is_none();
        match self {
            Self::All => false,
            Self::Count(count) => found.values().filter(|hello| is_free(hello)).count() >= *count,
            Self::Named(names) => names.iter().all(|name| found.get(name).is_some_and(is_free)),
        }
    }

    /// Returns the members among the agents that responded within a wait.
    ///
    /// # Errors
    /// If one is missing or has a run, or an agent is of another version.
    pub(crate) fn chosen(
        &self,
        found: Vec<Hello>,
        fleet: &FleetName,
        wait: Duration,
    ) -> Result<Vec<Hello>, FleetError> {
        if let Some(other) = found.iter().find(|hello| hello.torr != VERSION) {
            let Hello { agent, torr, .. } = other;
            return Err(FleetError::Agents(format!(
                "agent {agent} is torr {torr}, this is torr {VERSION}: use the same version on all machines"
            )));
        }
        let (free, busy): (Vec<_>, Vec<_>) = found.into_iter().partition(|hello| hello.run.is_none());
        let wait = humantime::format_duration(wait);
        let taken = match busy.len() {
            0 => String::new(),
            n => format!(" ({n} in another run)"),
        };
        match self {
            Self::All if free.is_empty() => Err(FleetError::Agents(format!(
                "no agent of fleet {fleet} responded within {wait}{taken}: start 'torr fleet agent' on each machine"
            ))),
            Self::All => Ok(free),
            Self::Count(wanted) if free.len() < *wanted => Err(FleetError::Agents(format!(
                "{} of {wanted} agents of fleet {fleet} responded within {wait}{taken}: start 'torr fleet agent' on \
                 more machines, or lower --agents",
                free.len()
            ))),
            Self::Count(wanted) => Ok(free.into_iter().take(*wanted).collect()),
            Self::Named(names) => {
                let members: Vec<_> = free.into_iter().filter(|hello| names.contains(&hello.agent)).collect();
                let is_there = |name: &&FleetName| members.iter().any(|hello| hello.agent == **name);
                match names.iter().find(|name| !is_there(name)) {
                    None => Ok(members),
                    Some(name) => Err(FleetError::Agents(format!(
                        "agent {name} of fleet {fleet} did not respond within {wait}, or is busy with another run"
                    ))),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_in_another_run_is_not_among_the_free() {
        let hello = |name: &str, run: Option<&str>| {
            let run = run.map(FleetName::of);
            let agent = FleetName::of(name);
            let (torr, machine) = (String::new(), String::new());
            (agent.clone(), Hello { agent, torr, machine, cores: 1, ceiling: 1.0, allow: vec![], run })
        };
        let found = BTreeMap::from([hello("a", None), hello("b", Some("r")), hello("c", None)]);
        let named = |names: &[&str]| Members::Named(names.iter().map(|&name| FleetName::of(name)).collect());
        assert!(named(&["a", "c"]).are_among(&found) && !named(&["a", "b"]).are_among(&found));
        assert!(!named(&["d"]).are_among(&found));
        assert!(Members::Count(2).are_among(&found) && !Members::Count(3).are_among(&found));
        assert!(!Members::All.are_among(&found), "there may be more");
    }
}
