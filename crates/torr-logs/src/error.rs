//! Why a log cannot be read.

use thiserror::Error;

/// Why a log cannot be read.
#[derive(Debug, Error)]
pub enum LogError {
    /// A file cannot be opened or read, with the reason.
    #[error("cannot read '{0}': {1}")]
    Read(String, String),
    /// The first lines of a file are of no known format. The first of them is given, as it stands there.
    #[error("unknown log format of '{file}'")]
    Unknown {
        /// The name of the file.
        file: String,
        /// Its first line.
        line: String,
    },
    /// A file has no lines.
    #[error("'{0}' has no lines")]
    Empty(String),
}
