//! The errors that end a diagnosis or a comparison.

use std::time::Duration;
use thiserror::Error;
use torr_gauge::verdict::ExperimentId;
use torr_press::request::RequestError;
use torr_press::{RunError, TargetError};

/// An error that ends a diagnosis or a comparison.
#[derive(Debug, Error)]
pub enum Halt {
    /// The user has interrupted it.
    #[error("interrupted")]
    Interrupted,
    /// The budget is used up.
    #[error("the budget is used up: raise --budget")]
    OutOfTime,
    /// A run failed.
    #[error(transparent)]
    Run(#[from] RunError),
    /// A variation of the request is not valid.
    #[error(transparent)]
    Request(#[from] RequestError),
    /// A URL that was built is not valid.
    #[error(transparent)]
    Target(#[from] TargetError),
    /// The budget is too small for a comparison.
    #[error("a budget of {given:?} is too short to measure {ways} variants in turns; use at least {least:?}")]
    Budget {
        /// The given budget.
        given: Duration,
        /// The least budget.
        least: Duration,
        /// The number of variants.
        ways: usize,
    },
    /// The server could not be started.
    #[error("{0}")]
    Command(String),
    /// A recording has no observation of this experiment.
    #[error("the recording has no experiment {0:?}")]
    NotRecorded(ExperimentId),
    /// The agents of a fleet failed.
    #[error("{0}")]
    Agents(String),
    /// The server was started, but does not respond.
    #[error("{0}")]
    Silent(String),
}
