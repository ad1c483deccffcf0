//! What a connection does next, in one vocabulary for its socket, its transport, its HTTP and the engine.

use torr_wire::body::Framing;

/// The next step of a connection. Where HTTP has made output, the step follows once everything is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    /// Receives more.
    Receive,
    /// Handles the requests that are in the input already, before more is received.
    Continue,
    /// Leaves the engine: hyper serves the connection.
    HandOver(HyperProtocol),
    /// A lingering close: what the client still sends is read and discarded for a while, so that it does not destroy the
    /// response on its way.
    Linger,
    /// Closes.
    Close,
    /// Ends at once, whatever is unsent: the client is gone, or is not to be served.
    Drop,
}

/// The protocol that hyper is to serve on a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HyperProtocol {
    /// HTTP/1.1, for one request, which may upgrade the connection. Its header section has `head` bytes, and its content is
    /// framed by `framing`.
    Http1 { head: usize, framing: Framing },
    /// HTTP/2.
    Http2,
}
