//! What ends a diagnosis or a comparison without a result.

use std::time::Duration;
use thiserror::Error;
use torr_press::request::RequestError;
use torr_press::{RunError, TargetError};

/// Why there is no diagnosis.
#[derive(Debug, Error)]
pub enum Halt {
    /// Somebody ended it.
    #[error("interrupted")]
    Interrupted,
    /// A run could not be made.
    #[error(transparent)]
    Run(#[from] RunError),
    /// A variation of the request cannot be made.
    #[error(transparent)]
    Request(#[from] RequestError),
    /// A URL of our own is none.
    #[error(transparent)]
    Target(#[from] TargetError),
    /// There is not enough time for what is to be compared.
    #[error("a budget of {given:?} is too short to measure {ways} ways in turns: give at least {least:?}")]
    Budget {
        /// What there is.
        given: Duration,
        /// What there should be.
        least: Duration,
        /// What is compared.
        ways: usize,
    },
    /// The server that was to be started cannot be.
    #[error("{0}")]
    Command(String),
    /// A recording has no observation of this experiment.
    #[error("'{experiment}' was not recorded, which would tell {why}")]
    NotRecorded {
        /// Its name.
        experiment: String,
        /// What it would tell.
        why: &'static str,
    },
    /// It was started, but does not answer.
    #[error("{0}")]
    Silent(String),
}
