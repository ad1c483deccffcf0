//! What can go wrong with a request: its kind, and whose side it is on.

use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt;

/// The step that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FailureKind {
    /// No connection came about.
    Connect,
    /// The TLS handshake failed.
    Tls,
    /// No answer in time.
    Timeout,
    /// The connection broke or ended before the whole answer had come.
    Read,
    /// The connection broke before the whole request was sent.
    Write,
    /// What came was not the HTTP that it should be.
    Protocol,
    /// A whole answer, with a status of 400 or more.
    Status,
    /// No local port was free.
    Ports,
}

impl FailureKind {
    /// All kinds, in the order of the result's fields.
    pub const ALL: [Self; 8] =
        [Self::Connect, Self::Tls, Self::Timeout, Self::Read, Self::Write, Self::Protocol, Self::Status, Self::Ports];

    /// The name used in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Connect => "connect",
            Self::Tls => "tls",
            Self::Timeout => "timeout",
            Self::Read => "read",
            Self::Write => "write",
            Self::Protocol => "protocol",
            Self::Status => "status",
            Self::Ports => "ports",
        }
    }
}

impl fmt::Display for FailureKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Where the cause lies, as far as this side can tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FailureSide {
    /// This machine, such as a limit of files or ports.
    Client,
    /// Between the two.
    Network,
    /// The service.
    Server,
}

/// One request's failure.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Failure {
    /// The step that failed.
    pub kind: FailureKind,
    /// Whose side the cause is on.
    pub side: FailureSide,
    /// What happened, in words.
    pub what: Cow<'static, str>,
}

impl Failure {
    /// A failure described by a constant or made text.
    pub fn new(kind: FailureKind, side: FailureSide, what: impl Into<Cow<'static, str>>) -> Self {
        Self { kind, side, what: what.into() }
    }
}
