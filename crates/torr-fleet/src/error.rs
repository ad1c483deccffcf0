//! The errors of a fleet.

use thiserror::Error;
use torr_gauge::fleet::EarlyEnd;

/// The reason for which a fleet did not do what it should. Each is one line.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum FleetError {
    /// A setting is wrong.
    #[error("{0}")]
    Usage(String),
    /// NATS cannot be reached, or refuses.
    #[error("NATS at {server}: {why}")]
    Nats {
        /// The address, without credentials.
        server: String,
        /// What happened.
        why: String,
    },
    /// The fleet has too few agents, of the wrong version, or they refuse the plan.
    #[error("{0}")]
    Agents(String),
    /// The target cannot be reached from an agent.
    #[error("{0}")]
    Unreachable(String),
    /// The run has no result.
    #[error("{0}")]
    NoResult(String),
    /// No interval of the run has the counts of all agents: the first agent for which there is a reason, and the reason.
    #[error("no result, not even of the first second")]
    NoInterval(Option<(String, EarlyEnd)>),
}
