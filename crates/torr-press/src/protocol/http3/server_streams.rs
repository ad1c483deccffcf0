//! The server's own streams: its control stream, and those of QPACK.

use super::buffers::Http3Buffers;
use super::{Http3, error};
use crate::protocol::ProtocolEvent;
use torr_net::quic::{ReadEnd, StreamId};
use torr_wire::http3::{ControlEvent, ErrorCode, Http3Error, Reading};

impl Http3<'_> {
    /// Reads what has arrived on one of the server's own streams.
    #[cold]
    pub(super) fn read_peer(&mut self, id: StreamId, buffers: &mut Http3Buffers) -> Result<(), Http3Error> {
        let Some(quic) = &mut self.quic else { return Ok(()) };
        buffers.chunks.clear();
        let end = quic.read(id, &mut buffers.chunks);
        for chunk in std::mem::take(&mut buffers.chunks) {
            let mut gone = None;
            let reading = self.peer.streams.read(id, &chunk, |event| {
                if let ControlEvent::GoAway(first) = event {
                    if gone.is_some_and(|before| first > before) {
                        return Err(rising());
                    }
                    gone = Some(first);
                }
                Ok(())
            })?;
            if let Some(first) = gone {
                self.go_away(first)?;
            }
            if reading == Reading::Stop {
                if let Some(quic) = &mut self.quic {
                    quic.stop(id, ErrorCode::STREAM_CREATION_ERROR.0);
                }
                return Ok(());
            }
        }
        if end == ReadEnd::Open { Ok(()) } else { self.peer.streams.end(id) }
    }

    /// Handles GOAWAY: requests from this stream on go on another connection.
    fn go_away(&mut self, first: u64) -> Result<(), Http3Error> {
        if self.peer.gone_away.is_some_and(|before| first > before) {
            return Err(rising());
        }
        self.peer.gone_away = Some(first);
        self.is_leaving = true;
        // A server that accepts no requests, connection after connection, would be tried forever.
        let is_wanted = self.has_responded || self.fruitless == 0;
        for stream in self.streams.split_from(first) {
            if let Some(quic) = &mut self.quic {
                quic.give_up(stream.id, ErrorCode::REQUEST_CANCELLED.0);
            }
            let event = match is_wanted {
                true => ProtocolEvent::Unprocessed(stream.key),
                false => ProtocolEvent::Failed(stream.key, error::gone_away()),
            };
            self.happened.push_back(event.into());
        }
        Ok(())
    }
}

/// Returns the violation of a server whose announcements of its end contradict each other.
fn rising() -> Http3Error {
    Http3Error { code: ErrorCode::ID_ERROR, what: "GOAWAY with a higher stream than an earlier one" }
}
