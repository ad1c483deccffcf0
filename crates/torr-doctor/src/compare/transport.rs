//! The transport of a variant: the version of HTTP, TLS and keep-alive.

use serde::Serialize;
use std::fmt;

/// The transport of a variant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Transport {
    /// The version of HTTP.
    #[serde(skip_serializing_if = "HttpVersion::is_first")]
    pub version: HttpVersion,
    /// The kind of TLS.
    pub secured: Secured,
    /// Whether connections are kept alive.
    pub keep_alive: bool,
}

/// The version of HTTP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum HttpVersion {
    /// HTTP/1.1.
    #[serde(rename = "http/1.1")]
    Http1,
    /// HTTP/2.
    #[serde(rename = "h2")]
    Http2,
    /// HTTP/3.
    #[serde(rename = "h3")]
    Http3,
}

impl HttpVersion {
    /// Returns whether it is HTTP/1.1, which all servers have.
    pub fn is_first(&self) -> bool {
        *self == Self::Http1
    }
}

impl fmt::Display for HttpVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Http1 => "HTTP/1.1",
            Self::Http2 => "HTTP/2",
            Self::Http3 => "HTTP/3",
        })
    }
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
        match self.version {
            HttpVersion::Http1 => write!(f, "{}, {kept}", self.secured),
            version => write!(f, "{version}, {kept}"),
        }
    }
}
