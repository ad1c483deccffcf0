//! How a service is reached: with TLS or without, with connections that are kept or not.

use serde::Serialize;
use std::fmt;

/// How a service is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Transport {
    /// TLS, and how.
    pub secured: Secured,
    /// Whether connections are used again.
    pub keep_alive: bool,
}

/// TLS, or none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Secured {
    /// No TLS.
    Plain,
    /// Each handshake with a key exchange of its own and a certificate.
    Full,
    /// Handshakes that go on from an earlier connection's session.
    Resumed,
}

impl fmt::Display for Secured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Plain => "plain",
            Self::Full => "TLS, full handshakes",
            Self::Resumed => "TLS, resumed",
        })
    }
}

impl fmt::Display for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kept = if self.keep_alive { "kept alive" } else { "a connection per request" };
        write!(f, "{}, {kept}", self.secured)
    }
}
