//! The mistake of a command line of k6: in a flag, or in a variable, which has another exit code.

use crate::usage_error::UsageError;

/// Why a command line cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mistake {
    /// What is wrong, in one line.
    pub message: String,
    /// Whether a variable is wrong, and no flag.
    pub is_of_variable: bool,
}

impl Mistake {
    /// Returns the mistake of a variable.
    pub fn of_variable(error: UsageError) -> Self {
        Self { message: error.message, is_of_variable: true }
    }
}

impl From<UsageError> for Mistake {
    fn from(error: UsageError) -> Self {
        Self { message: error.message, is_of_variable: false }
    }
}

impl From<lexopt::Error> for Mistake {
    fn from(error: lexopt::Error) -> Self {
        UsageError::from(error).into()
    }
}
