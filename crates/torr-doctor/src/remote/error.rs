//! The error of a reading from another machine.

use thiserror::Error;

/// An error of a reading from another machine.
#[derive(Debug, Error)]
pub enum RemoteError {
    /// The address is not valid.
    #[error("'{0}' is not the address of a 'torr watch', such as 10.0.0.5:9300; the protocol is plain HTTP")]
    Address(String),
    /// The address cannot be reached.
    #[error("no response from {0}: {1}; is 'torr watch' running there?")]
    Unreachable(String, std::io::Error),
    /// The response is not HTTP.
    #[error("the response of {0} cannot be read: {1}")]
    NotHttp(String, String),
    /// A token is required, or another one.
    #[error("{0} wants its token: set TORR_WATCH_TOKEN to the same as there")]
    Token(String),
    /// `torr watch` has refused the request.
    #[error("{0} says: {1}")]
    Refused(String, String),
    /// The program there is neither a `torr watch` nor a node_exporter.
    #[error("the program at {0} is neither 'torr watch' nor a node_exporter")]
    Stranger(String),
}
