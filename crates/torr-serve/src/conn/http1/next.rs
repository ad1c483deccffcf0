//! The next step of a connection, once its HTTP has handled an event.

use crate::app::Pending;
use crate::message::response::Pieces;
use crate::message::stream::{Fill, Framing, Stream};
use torr_wire::body;

/// The number of bytes of a long body that are made at a time.
const PART: usize = 64 * 1024;

/// The next step of a connection.
pub(crate) enum Next {
    /// Sends the output, and receives more.
    Receive,
    /// Sends the output, and waits for a handler's response, which `Http1::respond` takes.
    Handle(Pending, PendingResponse),
    /// Sends the output, then a body, and then does what [`Then`] tells.
    Send(Option<LongBody>, Then),
}

/// The next step of a connection once everything is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Then {
    /// Requests: those in the input first.
    Continue,
    /// The end of the connection.
    Close,
    /// A lingering close: what the client still sends is read and discarded for a while, so that it does not destroy the
    /// response on its way.
    Linger,
    /// The end of the engine's part: hyper serves the connection.
    HandOver(HyperProtocol),
}

/// The protocol that hyper is to serve on a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HyperProtocol {
    /// HTTP/1.1, for one request, which may upgrade the connection. Its header section has `head` bytes, and its content is
    /// framed by `framing`.
    Http1 { head: usize, framing: body::Framing },
    /// HTTP/2.
    Http2,
}

/// A body that is not sent together with its header section.
pub(crate) enum LongBody {
    Pieces(Pieces),
    Stream(Box<Stream>),
}

/// The response that a handler is making.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PendingResponse {
    pub rules: ResponseRules,
    /// The response is of no use once the client has ended its side, unless content of the request is still arriving.
    pub is_droppable: bool,
}

/// The rules that a request sets for the framing of its response.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ResponseRules {
    /// The response to a HEAD has no content.
    pub to_head: bool,
    pub http_1_1: bool,
    /// The client keeps the connection alive.
    pub keep_alive: bool,
    /// The connection has reached its limit of requests, which the client does not know.
    pub is_last: bool,
}

impl Next {
    /// Ends the connection.
    pub const CLOSE: Self = Self::Send(None, Then::Close);
    /// Ends the connection by a lingering close.
    pub const LINGER: Self = Self::Send(None, Then::Linger);
    /// Handles requests that are in the input already.
    pub const CONTINUE: Self = Self::Send(None, Then::Continue);

    /// Whether nothing is sent after the output that has been made so far.
    pub fn is_end(&self) -> bool {
        matches!(self, Self::Send(None, Then::Close | Then::Linger))
    }
}

impl LongBody {
    /// Whether the body has no known length, so that it may have no end.
    pub fn is_endless(&self) -> bool {
        matches!(self, Self::Stream(stream) if !matches!(stream.framing(), Framing::Length(_)))
    }

    /// Puts the next part into an empty buffer, which stays empty at the body's end. Returns also how many bytes of the body
    /// that is, without their framing.
    pub fn fill(&mut self, buffer: &mut Vec<u8>) -> (Fill, u64) {
        let pieces = match self {
            Self::Stream(stream) => {
                let fill = stream.fill(buffer);
                return (fill, stream.take_carried());
            }
            Self::Pieces(pieces) => pieces,
        };
        let mut fill = Fill::Ready;
        while buffer.len() < PART
            && let Some(piece) = pieces.take()
        {
            match piece {
                Ok(piece) => buffer.extend_from_slice(&piece),
                Err(_) => {
                    fill = Fill::Short;
                    break;
                }
            }
        }
        (fill, buffer.len() as u64)
    }
}
