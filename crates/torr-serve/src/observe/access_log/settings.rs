//! The settings of the access log: a format and a target.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

/// The format of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LogFormat {
    /// Apache's "common": `%h %l %u %t "%r" %>s %b`.
    Common,
    /// Apache's "combined": common, with referer and user agent.
    #[default]
    Combined,
    /// A JSON object.
    Json,
}

impl LogFormat {
    pub(super) const ALL: [Self; 3] = [Self::Common, Self::Combined, Self::Json];
}

impl fmt::Display for LogFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Common => "common",
            Self::Combined => "combined",
            Self::Json => "json",
        })
    }
}

impl FromStr for LogFormat {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        Self::ALL.into_iter().find(|format| format.to_string() == text).ok_or(())
    }
}

/// The destination of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LogTarget {
    /// Standard output.
    Stdout,
    /// A file, which is created or appended to.
    File(PathBuf),
}

impl fmt::Display for LogTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stdout => f.write_str("-"),
            Self::File(path) => path.display().fmt(f),
        }
    }
}

impl FromStr for LogTarget {
    type Err = ();

    /// Parses a target; `-` is standard output. A name with line breaks is refused, as messages have one line.
    fn from_str(text: &str) -> Result<Self, ()> {
        match text {
            "-" => Ok(Self::Stdout),
            _ if text.is_empty() || text.chars().any(char::is_control) => Err(()),
            _ => Ok(Self::File(text.into())),
        }
    }
}
