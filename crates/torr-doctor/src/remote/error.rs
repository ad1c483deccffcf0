//! The error of a reading from another machine.

use thiserror::Error;

/// An error of a reading from another machine.
#[derive(Debug, Error)]
pub enum RemoteError {
    /// The address is not valid.
    #[error("--watch must be the address of 'torr watch', such as 10.0.0.5:9300 (plain HTTP), found '{0}'")]
    Address(String),
    /// The address cannot be reached.
    #[error("cannot connect to {0}: {1}; start 'torr watch' there")]
    Unreachable(String, std::io::Error),
    /// The response is not HTTP.
    #[error("cannot read the response of {0}: {1}")]
    NotHttp(String, String),
    /// A token is required, or another one.
    #[error("'torr watch' at {0} requires a token: set TORR_WATCH_TOKEN to the value that it was started with")]
    Token(String),
    /// `torr watch` has refused the request.
    #[error("'torr watch' at {0} refused the request: {1}")]
    Refused(String, String),
    /// The program there is neither a `torr watch` nor a node_exporter.
    #[error("expected 'torr watch' or a node_exporter at {0}, found another program")]
    Stranger(String),
}
