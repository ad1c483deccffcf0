//! Why a load has no plan.

use std::fmt::Display;
use thiserror::Error;

/// The reason why a load has no plan, in one line.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum PlanError {
    /// A setting, a target or a file is wrong.
    #[error("{0}")]
    Usage(String),
    /// The service has no address that this machine can connect to.
    #[error("{0}")]
    Unreachable(String),
}

impl PlanError {
    /// Returns the error of a load with this mistake.
    pub(crate) fn usage(mistake: impl Display) -> Self {
        Self::Usage(mistake.to_string())
    }

    /// Returns the line.
    pub(crate) fn into_line(self) -> String {
        match self {
            Self::Usage(line) | Self::Unreachable(line) => line,
        }
    }
}
