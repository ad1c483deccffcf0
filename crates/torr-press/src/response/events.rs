//! The events of responses that are event streams, as they arrive.

mod keeping;
mod offered;
mod rule;
mod streaming;
mod tokens;
mod unpacked;
mod watch;

pub(crate) use keeping::{SWITCHED, StreamKeeper};
pub(crate) use offered::OfferedSocket;
pub use rule::{EventRule, EventRuleError};
pub use streaming::Streaming;
pub use tokens::{TokenArrival, TokenRule, TokenRuleError, UsageArrival};
pub(crate) use watch::{EventWatch, StreamPart, is_event_stream};

use std::num::NonZero;
use std::time::Duration;
use torr_net::Nanos;
use torr_wire::event_stream::Event;

/// What is awaited of responses that are event streams.
#[derive(Debug, Clone)]
pub struct EventPlan {
    /// Whether each successful response has to be an event stream. Without that, those are read as one whose content type says so, and
    /// all others as a whole.
    pub demands_streams: bool,
    /// The event with which the client ends a stream.
    pub until: Option<EventRule>,
    /// Which events have tokens of a language model, if those are counted.
    pub tokens: Option<TokenRule>,
    /// The number of events after which the client ends a stream.
    pub most: Option<NonZero<u64>>,
    /// The time after which a stream without another event has failed. Until its first event a stream has the time of a
    /// response.
    pub idle_timeout: Duration,
}

/// An event of a stream, as it is handed to the user whose response the stream is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamEvent {
    /// The type; `message` where the stream names none.
    pub kind: Vec<u8>,
    /// The data, its lines joined by LF; 1 MiB at most.
    pub data: Vec<u8>,
    /// The latest `id` of the stream; empty where it has none.
    pub id: Vec<u8>,
}

impl From<&Event<'_>> for StreamEvent {
    fn from(event: &Event<'_>) -> Self {
        let kind = if event.kind.is_empty() { b"message" } else { event.kind };
        Self { kind: kind.to_vec(), data: event.data.to_vec(), id: event.id.to_vec() }
    }
}

/// The events of one stream that were read at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventArrival {
    /// The key of the stream's request. Without multiplexing it has no meaning.
    pub key: u32,
    /// The number of events.
    pub events: NonZero<u32>,
    /// The time of the event before; `None` for the first of the stream.
    pub before: Option<NonZero<Nanos>>,
    /// The tokens among them, if those are counted.
    pub tokens: Option<TokenArrival>,
}
