//! Failures of requests: the step, and the side of the cause.

use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt;

/// The step of a request that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FailureKind {
    /// The connection could not be established.
    Connect,
    /// The TLS handshake failed.
    Tls,
    /// The response did not arrive in time.
    Timeout,
    /// The connection ended before the response was complete.
    Read,
    /// The connection ended before the request was sent completely.
    Write,
    /// The response violated HTTP.
    Protocol,
    /// The response was complete, with a status of 400 or more.
    Status,
    /// No local port was free.
    Ports,
    /// The response was complete, and a redirect that should have been followed and was not.
    Redirect,
    /// The request was due in an open loop, and not sent: no connection was available for it within the plan's patience.
    Abandoned,
}

impl FailureKind {
    /// All kinds in the order of the result's fields.
    pub const ALL: [Self; 10] = [
        Self::Connect,
        Self::Tls,
        Self::Timeout,
        Self::Read,
        Self::Write,
        Self::Protocol,
        Self::Status,
        Self::Ports,
        Self::Redirect,
        Self::Abandoned,
    ];

    /// Returns the name in results.
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
            Self::Redirect => "redirect",
            Self::Abandoned => "abandoned",
        }
    }
}

impl fmt::Display for FailureKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The side of a failure's cause, as far as the load generator can see.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FailureSide {
    /// The load generator's machine, such as a limit of files or ports.
    Client,
    /// The network between both.
    Network,
    /// The service.
    Server,
}

/// The failure of one request.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Failure {
    /// The step that failed.
    pub kind: FailureKind,
    /// The side of the cause.
    pub side: FailureSide,
    /// A description of the cause.
    pub what: Cow<'static, str>,
}

impl Failure {
    /// Creates a failure.
    pub fn new(kind: FailureKind, side: FailureSide, what: impl Into<Cow<'static, str>>) -> Self {
        Self { kind, side, what: what.into() }
    }
}
