//! Errors and warnings about options, each in one line that names the option.

use std::fmt::{self, Display, Formatter, Write};

/// The length in characters from which the rest of an error is left out: a value of an option may have any length.
const MAX_LENGTH: usize = 400;

/// An option that cannot be used (exit code 104).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OptionError {
    /// The option as a path, such as `scenarios.login.vus`.
    pub option: String,
    /// What is wrong, and what to do.
    pub message: String,
}

impl OptionError {
    /// Returns an error of an option.
    pub fn new(option: impl Into<String>, message: impl Into<String>) -> Self {
        Self { option: option.into(), message: message.into() }
    }
}

impl Display for OptionError {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let line = format!("invalid option '{}': {}", self.option, self.message);
        for c in line.chars().take(MAX_LENGTH) {
            if c.is_control() { write!(out, "{}", c.escape_default())? } else { out.write_char(c)? }
        }
        if line.chars().nth(MAX_LENGTH).is_some() { out.write_str("...") } else { Ok(()) }
    }
}

impl std::error::Error for OptionError {}

/// A warning about options, in one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning(pub String);

impl Display for Warning {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}
