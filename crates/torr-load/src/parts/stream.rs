//! Responses that are streams of events.

use crate::parsed::Parsed;
use std::num::NonZero;
use std::time::Duration;
use torr_press::{EventPlan, EventRule, TokenRule};

/// The default of `--idle-timeout`: twice the time after which many servers send a comment to keep a stream open.
const IDLE_TIMEOUT: Duration = Duration::from_secs(30);

/// How streams of events are read, and when the client ends them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StreamPart {
    pub sse: bool,
    pub listen: bool,
    pub tokens: Option<Parsed<TokenRule>>,
    pub until: Option<Parsed<EventRule>>,
    pub max_events: Option<Parsed<NonZero<u64>>>,
    pub idle_timeout: Option<Parsed<Duration>>,
}

impl StreamPart {
    /// Whether responses are streams of events: those of tokens are.
    pub fn has_streams(&self) -> bool {
        self.sse || self.tokens.is_some()
    }

    /// Returns what is awaited of streams, if responses are such, or all that is received on a WebSocket.
    pub fn events(&self) -> Option<EventPlan> {
        let is_stream = self.has_streams() || self.listen;
        is_stream.then(|| EventPlan { tokens: self.tokens.as_deref().cloned(), ..self.messages() })
    }

    /// Returns what is awaited of streams whose events are messages of a protocol that frames them itself.
    pub fn messages(&self) -> EventPlan {
        EventPlan {
            demands_streams: true,
            until: self.until.as_deref().cloned(),
            tokens: None,
            most: self.max_events.as_deref().copied(),
            idle_timeout: self.idle_timeout(),
        }
    }

    /// Returns what is awaited of the streams among the responses of sessions, which say by their content type that they are such.
    pub fn in_sessions(&self) -> EventPlan {
        EventPlan { demands_streams: false, ..self.messages() }
    }

    /// Returns the name of a given setting that only streams have.
    pub fn given(&self) -> Option<&'static str> {
        let given = [
            ("until", self.until.is_some()),
            ("max-events", self.max_events.is_some()),
            ("idle-timeout", self.idle_timeout.is_some()),
        ];
        given.into_iter().find_map(|(name, is_given)| is_given.then_some(name))
    }

    /// Returns the time after which a stream without another event has failed.
    pub fn idle_timeout(&self) -> Duration {
        self.idle_timeout.as_deref().copied().unwrap_or(IDLE_TIMEOUT)
    }
}
