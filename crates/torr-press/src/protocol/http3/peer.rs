//! The state of the server's own streams.

use torr_net::quic::{QuicChannel, StreamId};
use torr_wire::http3::{PeerStreams, Sender};

/// The server's side of a connection.
#[derive(Debug)]
pub struct Peer {
    /// The unidirectional streams that are open.
    pub streams: PeerStreams<StreamId>,
    /// The first request of the latest GOAWAY that is not processed.
    pub gone_away: Option<u64>,
}

impl Default for Peer {
    fn default() -> Self {
        Self { streams: PeerStreams::new(Sender::Server), gone_away: None }
    }
}

impl Peer {
    /// Adds a stream that the server has opened.
    pub fn add(&mut self, stream: StreamId) {
        self.streams.add(stream);
    }

    /// Returns whether a stream is one of the server's own.
    #[inline]
    pub fn has(&self, stream: StreamId) -> bool {
        QuicChannel::is_unidirectional(stream) && self.streams.has(stream)
    }
}
