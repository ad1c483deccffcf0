//! The events of responses that are event streams, as they arrive.

mod rule;
mod streaming;
mod unpacked;
mod watch;

pub use rule::{EventRule, EventRuleError};
pub use streaming::Streaming;
pub(crate) use watch::EventWatch;

use std::num::NonZero;
use std::time::Duration;
use torr_net::Nanos;

/// What is awaited of responses that are event streams.
#[derive(Debug, Clone)]
pub struct EventPlan {
    /// The event with which the client ends a stream.
    pub until: Option<EventRule>,
    /// The number of events after which the client ends a stream.
    pub most: Option<NonZero<u64>>,
    /// The time after which a stream without another event has failed. Until its first event a stream has the time of a
    /// response.
    pub idle_timeout: Duration,
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
}
