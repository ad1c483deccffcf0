//! Why there is no reading of another machine.

use thiserror::Error;

/// Why there is no reading.
#[derive(Debug, Error)]
pub enum RemoteError {
    /// The address cannot be read.
    #[error("'{0}' is not the address of a 'torr watch', such as 10.0.0.5:9300; it is asked over plain HTTP")]
    Address(String),
    /// Nobody answers there.
    #[error("no answer from {0}: {1}; is 'torr watch' running there?")]
    Unreachable(String, std::io::Error),
    /// What answers does not speak HTTP.
    #[error("what {0} answers cannot be read: {1}")]
    NotHttp(String, String),
    /// It wants a token, or another one.
    #[error("{0} wants its token: set TORR_WATCH_TOKEN to the same as there")]
    Token(String),
    /// It answers, but cannot help.
    #[error("{0} says: {1}")]
    Refused(String, String),
    /// Neither a `torr watch` nor a node_exporter.
    #[error("what answers at {0} is neither 'torr watch' nor a node_exporter")]
    Stranger(String),
}
