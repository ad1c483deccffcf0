//! Why the content of a request does not come to its end.

use std::error::Error;
use std::fmt;
use std::mem::discriminant;
use std::sync::Arc;

/// The reason why a request's body does not come to its end. Two reasons are equal if they are of the same kind.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum BodyError {
    /// The connection ended before.
    Cut,
    /// The client has reset the request, or its connection failed, over HTTP/2. The source is what hyper reports, whose own source is
    /// the `h2` crate's error with the client's code: libraries such as tonic read both.
    Reset(Arc<hyper::Error>),
    /// The body is larger than the server takes.
    TooLarge,
    /// The body is not framed as HTTP requires.
    Malformed,
    /// The client sent nothing of the body for too long.
    TimedOut,
}

impl BodyError {
    /// Whether the client ended the body, so that no client waits for a response.
    pub(crate) fn is_by_client(&self) -> bool {
        matches!(self, Self::Cut | Self::Reset(_))
    }
}

impl PartialEq for BodyError {
    fn eq(&self, other: &Self) -> bool {
        discriminant(self) == discriminant(other)
    }
}

impl Eq for BodyError {}

impl fmt::Display for BodyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Cut => "the connection was closed before the end of the request's body",
            Self::Reset(_) => "the client reset the request",
            Self::TooLarge => "the request's body is too large",
            Self::Malformed => "the request's body is malformed",
            Self::TimedOut => "timed out waiting for the request's body",
        })
    }
}

impl Error for BodyError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Reset(error) => Some(&**error),
            _ => None,
        }
    }
}
