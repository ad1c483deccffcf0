//! What has happened on a connection until the engine takes it: datagrams that arrive together complete several responses at once.

use crate::protocol::ProtocolEvent;
use crate::response::kept::KeptResponse;

/// An event, with the response that it completes.
#[derive(Debug)]
pub struct Happened {
    pub event: ProtocolEvent,
    /// The response, if it was to be kept.
    pub kept: Option<Box<KeptResponse>>,
}

impl Happened {
    /// Returns whether the response to the request of this key is complete by it.
    pub fn completes(&self, key: u32) -> bool {
        matches!(&self.event, ProtocolEvent::Response(response) if response.key == key)
    }
}

impl From<ProtocolEvent> for Happened {
    fn from(event: ProtocolEvent) -> Self {
        Self { event, kept: None }
    }
}
