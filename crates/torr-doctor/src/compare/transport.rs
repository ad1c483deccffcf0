//! The transport of a variant: TLS and keep-alive.

use serde::Serialize;
use std::fmt;

/// The transport of a variant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Transport {
    /// The kind of TLS.
    pub secured: Secured,
    /// Whether connections are kept alive.
    pub keep_alive: bool,
}

/// The kind of TLS.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Secured {
    /// No TLS.
    Plain,
    /// Full handshakes, each with a key exchange and a certificate.
    Full,
    /// Handshakes that resume an earlier connection's session.
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
