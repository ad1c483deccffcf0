//! Why the content of a request does not come to its end.

use thiserror::Error;

/// The reason why a request's body does not come to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum BodyError {
    /// The connection ended before.
    #[error("the connection ended before the request's body did")]
    Cut,
    /// The body is larger than the server takes.
    #[error("the request's body is too large")]
    TooLarge,
    /// The body is not framed as HTTP requires.
    #[error("the request's body is malformed")]
    Malformed,
    /// The client sent nothing of the body for too long.
    #[error("the client took too long over the request's body")]
    TimedOut,
}
