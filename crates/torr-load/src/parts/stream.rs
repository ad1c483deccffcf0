//! Responses that are streams of events.

use crate::parsed::Parsed;
use std::num::NonZero;
use std::time::Duration;
use torr_press::{EventPlan, EventRule};

/// The default of `--idle-timeout`: twice the time after which many servers send a comment to keep a stream open.
const IDLE_TIMEOUT: Duration = Duration::from_secs(30);

/// How streams of events are read, and when the client ends them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StreamPart {
    pub sse: bool,
    pub until: Option<Parsed<EventRule>>,
    pub max_events: Option<Parsed<NonZero<u64>>>,
    pub idle_timeout: Option<Parsed<Duration>>,
}

impl StreamPart {
    /// Returns what is awaited of streams, if responses are such.
    pub fn events(&self) -> Option<EventPlan> {
        self.sse.then(|| EventPlan {
            until: self.until.as_deref().cloned(),
            most: self.max_events.as_deref().copied(),
            idle_timeout: self.idle_timeout(),
        })
    }

    /// Returns the time after which a stream without another event has failed.
    pub fn idle_timeout(&self) -> Duration {
        self.idle_timeout.as_deref().copied().unwrap_or(IDLE_TIMEOUT)
    }
}
