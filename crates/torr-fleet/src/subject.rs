//! The subjects of a fleet's messages.

use serde::{Deserialize, Serialize};
use std::fmt;
use thiserror::Error;

/// The limit of a name in characters.
const LONGEST: usize = 64;

/// The name of a fleet, of an agent or of a run: a token of a subject.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct FleetName(String);

/// The text is no name.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("invalid name '{0}': use letters, digits, '-' and '_', at most 64")]
pub struct NameError(pub String);

impl FleetName {
    /// Parses a name.
    ///
    /// # Errors
    /// [`NameError`].
    pub fn parse(text: &str) -> Result<Self, NameError> {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        match !text.is_empty() && text.len() <= LONGEST && text.chars().all(is_plain) {
            true => Ok(Self(text.to_owned())),
            false => Err(NameError(text.to_owned())),
        }
    }

    /// Returns a name made of a text whose other characters are replaced.
    pub fn of(text: &str) -> Self {
        let plain = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' };
        let name: String = text.chars().take(LONGEST).map(plain).collect();
        Self(if name.is_empty() { "agent".into() } else { name })
    }

    /// Returns the name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for FleetName {
    type Error = NameError;

    fn try_from(text: String) -> Result<Self, NameError> {
        Self::parse(&text)
    }
}

impl From<FleetName> for String {
    fn from(name: FleetName) -> Self {
        name.0
    }
}

impl fmt::Display for FleetName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FleetName {
    /// The subject of the call to which all agents of the fleet respond.
    pub(crate) fn call(&self) -> String {
        format!("torr.{self}.call")
    }

    /// The subject by which runs are stopped.
    pub(crate) fn stop(&self) -> String {
        format!("torr.{self}.stop")
    }

    /// The subject of one agent.
    pub(crate) fn agent(&self, agent: &Self) -> String {
        format!("torr.{self}.agent.{agent}")
    }

    /// The subject on which an agent responds to others that would take its name. It is not the one by which plans come, so that
    /// agents need no right to send any.
    pub(crate) fn name_of(&self, agent: &Self) -> String {
        format!("torr.{self}.name.{agent}")
    }

    /// The subject on which the coordinator of a run speaks to all of its agents.
    pub(crate) fn to_all(&self, run: &Self) -> String {
        format!("torr.{self}.run.{run}.all")
    }

    /// The subject on which an agent speaks to the coordinator of a run.
    pub(crate) fn of_agent(&self, run: &Self, agent: &Self) -> String {
        format!("torr.{self}.run.{run}.from.{agent}")
    }

    /// The subjects on which all agents speak to the coordinator of a run.
    pub(crate) fn of_agents(&self, run: &Self) -> String {
        format!("torr.{self}.run.{run}.from.*")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_single_tokens() {
        for bad in ["", "a.b", "a b", "*", ">", "é", &"x".repeat(65)] {
            assert_eq!(FleetName::parse(bad), Err(NameError(bad.to_owned())));
        }
        assert_eq!(FleetName::of("web 1.example").as_str(), "web-1-example");
        assert_eq!(FleetName::of("a").of_agents(&FleetName::of("r")), "torr.a.run.r.from.*");
        assert!(
            serde_json::from_str::<FleetName>("\"a.b\"").is_err() && serde_json::from_str::<FleetName>("\"a\"").is_ok()
        );
    }
}
