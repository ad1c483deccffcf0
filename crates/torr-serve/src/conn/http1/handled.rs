//! The result of handling an event by HTTP: output, and what follows it.

use crate::app::Pending;
use crate::conn::next::Next;
use crate::message::response::Pieces;
use crate::message::stream::{BodyFailed, Framing, Stream};
use std::task::Poll;

/// The number of bytes of a long body that are made at a time.
const PART: usize = 64 * 1024;

/// The result of handling an event. The output that was made before is sent first.
pub(crate) enum Handled {
    /// Everything to send is in the output.
    Done(Next),
    /// A body is sent before the next step.
    Body(LongBody, Next),
    /// A handler makes a response, which `Http1::respond` takes.
    Pending(Pending, PendingResponse),
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

impl Handled {
    /// Whether nothing is sent after the output that has been made so far.
    pub fn is_end(&self) -> bool {
        matches!(self, Self::Done(Next::Close | Next::Linger))
    }
}

impl LongBody {
    /// Whether the body has no known length, so that it may have no end.
    pub fn is_endless(&self) -> bool {
        matches!(self, Self::Stream(stream) if !matches!(stream.framing(), Framing::Length(_)))
    }

    /// Puts the next part into an empty buffer, which stays empty at the body's end. Returns how many bytes of the body that is,
    /// without their framing.
    ///
    /// # Errors
    /// If the body cannot be sent to its end.
    pub fn fill(&mut self, buffer: &mut Vec<u8>) -> Poll<Result<u64, BodyFailed>> {
        let pieces = match self {
            Self::Stream(stream) => return stream.fill(buffer),
            Self::Pieces(pieces) => pieces,
        };
        while buffer.len() < PART
            && let Some(piece) = pieces.take()
        {
            buffer.extend_from_slice(&piece?);
        }
        Poll::Ready(Ok(buffer.len() as u64))
    }
}
