//! Why a run ends early, and the exit code that says so.

use std::{fmt, io};

/// What ended a run, or made one candidate drop out of a scenario.
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
    /// A failure told in one line.
    pub fn failed(text: impl Into<String>) -> Self {
        Error::Failed(text.into())
    }

    /// For `map_err`: puts what was tried before what the system said.
    pub fn at<E: fmt::Display>(tried: impl fmt::Display) -> impl FnOnce(E) -> Error {
        move |e| Error::Failed(format!("{tried}: {e}"))
    }

    /// The process's exit code, as the `torr` program uses them.
    pub fn exit_code(&self) -> u8 {
        match self {
            Error::Failed(_) => 1,
            Error::Usage(_) => 2,
            Error::Interrupted => 130,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Usage(text) | Error::Failed(text) => f.write_str(text),
            Error::Interrupted => f.write_str("interrupted"),
        }
    }
}

impl From<io::Error> for Error {
    fn from(e: io::Error) -> Self {
        Error::Failed(e.to_string())
    }
}

impl From<rustix::io::Errno> for Error {
    fn from(e: rustix::io::Errno) -> Self {
        io::Error::from(e).into()
    }
}
