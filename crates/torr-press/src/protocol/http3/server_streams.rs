//! The server's own streams: its control stream, and those of QPACK.

use super::buffers::Http3Buffers;
use super::{Http3, error};
use crate::protocol::ProtocolEvent;
use torr_net::quic::{ReadEnd, StreamId};
use torr_wire::http3::{ControlEvent, ErrorCode, Http3Error, StreamType};

impl Http3<'_> {
    /// Reads what has arrived on one of the server's own streams.
    #[cold]
    pub(super) fn read_peer(&mut self, id: StreamId, buffers: &mut Http3Buffers) -> Result<(), Http3Error> {
        let Some(quic) = &mut self.quic else { return Ok(()) };
        buffers.chunks.clear();
        let end = quic.read(id, &mut buffers.chunks);
        for chunk in std::mem::take(&mut buffers.chunks) {
            let mut input = &chunk[..];
            loop {
                let Some((_, stream)) = self.peer.streams.iter_mut().find(|(other, _)| *other == id) else {
                    return Ok(());
                };
                let had_kind = stream.kind().is_some();
                let event = stream.next(&mut input)?;
                let kind = stream.kind();
                if let Some(kind) = kind.filter(|_| !had_kind) {
                    self.typed(id, kind)?;
                }
                match event {
                    Some(ControlEvent::Settings(_)) => {}
                    Some(ControlEvent::GoAway(first)) => self.go_away(first)?,
                    None => break,
                }
            }
        }
        if end == ReadEnd::Open {
            return Ok(());
        }
        let Some(at) = self.peer.streams.iter().position(|(other, _)| *other == id) else { return Ok(()) };
        let (_, stream) = self.peer.streams.remove(at);
        match stream.is_critical() {
            true => Err(Http3Error {
                code: ErrorCode::CLOSED_CRITICAL_STREAM,
                what: "the server ended its control stream, or one of QPACK",
            }),
            false => Ok(()),
        }
    }

    /// Notes the type of one of the server's streams.
    fn typed(&mut self, id: StreamId, kind: StreamType) -> Result<(), Http3Error> {
        if kind == StreamType::Unknown {
            // It is nothing that this side could use, and may be endless.
            if let Some(quic) = &mut self.quic {
                quic.stop(id, ErrorCode::STREAM_CREATION_ERROR.0);
            }
            self.peer.streams.retain(|(other, _)| *other != id);
        } else if self.peer.has_two(kind) {
            let what = "second stream of a type that there may be one of";
            return Err(Http3Error { code: ErrorCode::STREAM_CREATION_ERROR, what });
        }
        Ok(())
    }

    /// Handles GOAWAY: requests from this stream on go on another connection.
    fn go_away(&mut self, first: u64) -> Result<(), Http3Error> {
        if self.peer.gone_away.is_some_and(|before| first > before) {
            return Err(Http3Error {
                code: ErrorCode::ID_ERROR,
                what: "GOAWAY with a higher stream than an earlier one",
            });
        }
        self.peer.gone_away = Some(first);
        self.is_leaving = true;
        // A server that accepts no requests, connection after connection, would be tried forever.
        let is_wanted = self.has_responded || self.fruitless == 0;
        for stream in self.streams.split_from(first) {
            if let Some(quic) = &mut self.quic {
                quic.give_up(stream.id, ErrorCode::REQUEST_CANCELLED.0);
            }
            self.events.push_back(match is_wanted {
                true => ProtocolEvent::Unprocessed(stream.key),
                false => ProtocolEvent::Failed(stream.key, error::gone_away()),
            });
        }
        Ok(())
    }
}
