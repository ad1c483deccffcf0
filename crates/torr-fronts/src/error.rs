//! The error that ends a front end.

use std::fmt::Display;

/// The error that ends a front end, which its host prints and gives an exit code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FrontError {
    /// The command line is wrong.
    Usage(String),
    /// The target cannot be reached at all.
    Unreachable(String),
    /// Something else failed, such as writing a file.
    Failed(String),
}

impl FrontError {
    /// Returns the error of a command line with this mistake.
    pub fn usage(mistake: impl Display) -> Self {
        Self::Usage(mistake.to_string())
    }
}
