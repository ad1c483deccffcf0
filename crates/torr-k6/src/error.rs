//! Errors of scripts and of runs: what went wrong, where in the source, and the exit code that follows.

use std::fmt::{self, Display, Formatter};

/// The kind of an error, which decides the exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// A script, an option or an argument that cannot be used (exit code 104).
    Config,
    /// A script that cannot be read (exit code 255).
    Unreadable,
    /// An exception of the script in the init context, in `setup` or in `teardown` (exit code 107).
    Exception,
    /// `setup` that took longer than `setupTimeout` (exit code 100).
    SetupTimeout,
    /// `teardown` that took longer than `teardownTimeout` (exit code 101).
    TeardownTimeout,
    /// Another time limit (exit code 102).
    Timeout,
    /// `exec.test.abort()` (exit code 108).
    Aborted,
    /// An interruption by the person or program that runs the script (exit code 105).
    Interrupted,
    /// Anything else (exit code 255).
    Other,
}

impl ErrorKind {
    /// Returns the exit code of a run that ends with an error of this kind.
    #[must_use]
    pub fn exit_code(self) -> u8 {
        match self {
            Self::SetupTimeout => 100,
            Self::TeardownTimeout => 101,
            Self::Timeout => 102,
            Self::Config => 104,
            Self::Interrupted => 105,
            Self::Exception => 107,
            Self::Aborted => 108,
            Self::Unreadable | Self::Other => 255,
        }
    }
}

/// The name that stacks have in place of a file for code that is not the script's.
pub const NATIVE: &str = "native";

/// An error of a script, or of what a script needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScriptError {
    /// The kind.
    pub kind: ErrorKind,
    /// What is wrong, in one line.
    pub message: String,
    /// The place in the source as `file:line:column`, if it is known.
    pub place: Option<String>,
    /// The call stack as the script engine tells it, a line for each call; empty if there is none.
    pub stack: String,
}

impl ScriptError {
    /// Returns an error without a place.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), place: None, stack: String::new() }
    }

    /// Returns an error of the configuration.
    pub fn config(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Config, message)
    }

    /// Returns the error with a place in the source.
    #[must_use]
    pub fn at(mut self, place: impl Into<String>) -> Self {
        self.place = Some(place.into());
        self
    }
}

impl Display for ScriptError {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match &self.place {
            Some(place) => write!(out, "{} at {place}", self.message),
            None => out.write_str(&self.message),
        }
    }
}

impl std::error::Error for ScriptError {}
