//! The result of handling an event by HTTP: output, and what follows it.

use super::long_body::LongBody;
use crate::app::Pending;
use crate::conn::next::Next;

/// The result of handling an event. The output that was made before is sent first.
pub(crate) enum Handled {
    /// Everything to send is in the output.
    Done(Next),
    /// A body is sent before the next step.
    Body(LongBody, Next),
    /// A handler makes a response, which `Http1::respond` takes.
    Pending(Pending, PendingResponse),
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
