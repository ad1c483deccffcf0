//! Why a value could not be had.

use thiserror::Error;

/// A value that could not be evaluated, in words.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct EvaluationError(pub String);
