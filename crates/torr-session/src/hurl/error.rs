//! Where a hurl file stopped making sense, and why.

use std::fmt;
use thiserror::Error;

/// A place in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// The line, counted from 1.
    pub line: usize,
    /// The column in characters, counted from 1.
    pub column: usize,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// A mistake in a hurl file. Displays as `LINE:COLUMN: what is wrong, what to write instead`.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{at}: {message}")]
pub struct ParseError {
    /// The place of the mistake.
    pub at: Position,
    /// The mistake in words, with what to write instead.
    pub message: String,
}
