//! Why a run ends early, or a part of it, and the exit code that says so.

use std::{fmt, io};

/// What went wrong.
#[derive(Debug)]
pub enum Error {
    /// The command line makes no sense; the text is one line.
    Usage(String),
    /// Ctrl-C, or another polite signal.
    Interrupted,
    /// Anything else; the text is one line and says what was tried.
    Failed(String),
}

impl Error {
    /// A failure in one line.
    pub fn failed(text: impl Into<String>) -> Self {
        Self::Failed(text.into())
    }

    /// For `map_err`: puts what was tried before what the system said.
    pub fn at<E: fmt::Display>(tried: impl fmt::Display) -> impl FnOnce(E) -> Self {
        move |error| Self::Failed(format!("{tried}: {error}"))
    }

    /// The process's exit code, as the `torr` program uses them.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Failed(_) => 1,
            Self::Usage(_) => 2,
            Self::Interrupted => 130,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usage(text) | Self::Failed(text) => f.write_str(text),
            Self::Interrupted => f.write_str("interrupted"),
        }
    }
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        Self::Failed(error.to_string())
    }
}

impl From<rustix::io::Errno> for Error {
    fn from(error: rustix::io::Errno) -> Self {
        io::Error::from(error).into()
    }
}
