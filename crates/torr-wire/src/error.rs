//! What can be wrong with a message.

use thiserror::Error;

/// Why bytes are not the HTTP/1.1 message that they should be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum WireError {
    /// The first line or a header field does not follow the grammar (RFC 9112, sections 3 to 5).
    #[error("malformed head: {0}")]
    Syntax(&'static str),
    /// The head has not ended within the limit. The limit in bytes is the reader's.
    #[error("the head is too large")]
    HeadTooLarge,
    /// The request line alone does not fit the limit of the head.
    #[error("the request target is too long")]
    TargetTooLong,
    /// More header fields than the reader takes.
    #[error("too many header fields")]
    TooManyHeaders,
    /// Neither HTTP/1.0 nor HTTP/1.1.
    #[error("unsupported HTTP version")]
    Version,
    /// Not exactly one valid `Host` in an HTTP/1.1 request (RFC 9112, section 3.2).
    #[error("a request needs exactly one valid Host")]
    Host,
    /// `Content-Length` is not one number, or contradicts itself (RFC 9112, section 6.3).
    #[error("invalid Content-Length")]
    Length,
    /// `Transfer-Encoding` where it must not be, together with `Content-Length`, or not ending in `chunked` (RFC 9112,
    /// sections 6.1 and 6.3).
    #[error("invalid Transfer-Encoding")]
    TransferEncoding,
    /// A transfer coding other than `chunked`, under a last `chunked` that makes the end of the body certain.
    #[error("unsupported transfer coding")]
    TransferCoding,
    /// The chunked framing is broken (RFC 9112, section 7.1).
    #[error("malformed chunk")]
    Chunk,
    /// The peer ended the connection in the middle of a message.
    #[error("the message was cut short")]
    Truncated,
}
