//! Errors of HTTP/1.1 messages.

use thiserror::Error;

/// A violation of HTTP/1.1, or of a limit of the reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum WireError {
    /// The start line or a header field violates the grammar (RFC 9112, sections 3 to 5); the text names the part.
    #[error("malformed header section: {0}")]
    Syntax(&'static str),
    /// The header section exceeds the reader's limit in bytes.
    #[error("the header section is too large")]
    HeadTooLarge,
    /// The request line exceeds the reader's limit in bytes.
    #[error("the request target is too long")]
    TargetTooLong,
    /// The header section of a request has more fields than the reader's limit.
    #[error("too many header fields")]
    TooManyHeaders,
    /// The header section of a response has more fields than the reader's limit.
    #[error("too many header fields ({found}, limit {limit})")]
    TooManyFields {
        /// The number of fields.
        found: usize,
        /// The largest number that the reader accepts.
        limit: usize,
    },
    /// The version is neither HTTP/1.0 nor HTTP/1.1.
    #[error("unsupported HTTP version")]
    Version,
    /// A request has no `Host`, several, or an invalid one (RFC 9112, section 3.2).
    #[error("a request must have exactly one valid Host field")]
    Host,
    /// `Content-Length` is not a single number (RFC 9112, section 6.3).
    #[error("invalid Content-Length")]
    Length,
    /// `Transfer-Encoding` in HTTP/1.0, beside `Content-Length`, or without a final `chunked` (RFC 9112, sections 6.1 and
    /// 6.3).
    #[error("invalid Transfer-Encoding")]
    TransferEncoding,
    /// A transfer coding other than `chunked`, before the final `chunked` that delimits the body.
    #[error("unsupported transfer coding")]
    TransferCoding,
    /// The chunked framing is malformed (RFC 9112, section 7.1).
    #[error("malformed chunk")]
    Chunk,
    /// The connection ended in the middle of a message.
    #[error("the message is incomplete")]
    Truncated,
}
