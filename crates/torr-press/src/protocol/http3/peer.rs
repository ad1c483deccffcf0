//! The state of the server's own streams.

use torr_net::quic::{QuicConnection, StreamId};
use torr_wire::http3::{StreamType, UnidirectionalStream};

/// The server's side of a connection.
#[derive(Debug, Default)]
pub struct Peer {
    /// The unidirectional streams that are open. QUIC bounds their number.
    pub streams: Vec<(StreamId, UnidirectionalStream)>,
    /// The first request of the latest GOAWAY that is not processed.
    pub gone_away: Option<u64>,
}

impl Peer {
    /// Adds a stream that the server has opened.
    pub fn add(&mut self, stream: StreamId) {
        self.streams.push((stream, UnidirectionalStream::default()));
    }

    /// Returns whether a stream is one of the server's own.
    #[inline]
    pub fn has(&self, stream: StreamId) -> bool {
        QuicConnection::is_unidirectional(stream) && self.streams.iter().any(|(id, _)| *id == stream)
    }

    /// Returns whether two streams are of a type that there may be one of.
    pub fn has_two(&self, kind: StreamType) -> bool {
        self.streams.iter().filter(|(_, stream)| stream.kind() == Some(kind)).count() > 1
    }
}
