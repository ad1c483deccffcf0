//! What virtual users learn of their event streams.

use super::reader::ServerEvent;
use crate::sockets::response::Response;

/// An event of a stream. The last one is [`Failed`](StreamEvent::Failed) or [`Ended`](StreamEvent::Ended).
#[derive(Debug)]
pub enum StreamEvent {
    /// The header section of the response has arrived.
    Opened(Response),
    /// An event has arrived.
    Event(ServerEvent),
    /// A line has arrived that belongs to no event.
    Unknown(String),
    /// The request or the stream has failed, for the reason in the text.
    Failed(String),
    /// The response is complete.
    Ended,
}
