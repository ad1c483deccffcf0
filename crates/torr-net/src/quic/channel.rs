//! A connection of either side beside its endpoint: its events, its streams and the datagrams that it sends.

use super::error::QuicError;
use super::session::{self, Facts};
use crate::tls::NegotiatedTls;
use bytes::Bytes;
use quinn_proto::{
    Connection, ConnectionHandle, Dir, Endpoint, Event, ReadError, StreamEvent, StreamId, VarInt, WriteError,
};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// An event on a connection.
#[derive(Debug)]
pub enum QuicEvent {
    /// The handshake is complete.
    Connected,
    /// The peer has opened unidirectional streams: [`QuicChannel::accept`] returns them.
    Opened,
    /// The client has opened streams for requests: [`QuicChannel::accept_request`] returns them.
    Requested,
    /// A stream has bytes, has ended or was reset.
    Readable(StreamId),
    /// A stream takes more bytes.
    Writable(StreamId),
    /// The peer does not want what is sent on a stream, for this reason.
    Stopped(StreamId, u64),
    /// The peer has received all that was sent on a finished stream, or does not want it.
    Acknowledged(StreamId),
    /// The connection has ended.
    Lost(QuicError),
}

/// How far a stream could be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadEnd {
    /// More may come.
    Open,
    /// The stream has ended.
    Finished,
    /// The peer has given up the stream, for this reason.
    Reset(u64),
}

/// A connection beside its endpoint.
pub struct QuicChannel {
    pub(super) handle: ConnectionHandle,
    pub(super) connection: Connection,
    /// The settings of a client; `None` on a server.
    client: Option<Arc<session::Client>>,
}

impl std::fmt::Debug for QuicChannel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("QuicChannel").field("handle", &self.handle).finish_non_exhaustive()
    }
}

impl QuicChannel {
    pub(super) fn new(handle: ConnectionHandle, connection: Connection, client: Option<Arc<session::Client>>) -> Self {
        Self { handle, connection, client }
    }

    /// Passes on what the two halves of `quinn-proto` have for each other: identifiers of the connection. Returns whether the endpoint
    /// has forgotten the connection, so that nothing is sent or received any more.
    pub(super) fn exchange(&mut self, endpoint: &mut Endpoint) -> bool {
        let mut is_drained = false;
        while let Some(event) = self.connection.poll_endpoint_events() {
            // The endpoint of a client ends with its one connection.
            is_drained |= event.is_drained();
            if event.is_drained() && self.client.is_some() {
                continue;
            }
            if let Some(event) = endpoint.handle_event(self.handle, event) {
                self.connection.handle_event(event);
            }
        }
        is_drained
    }

    /// Returns the time that a datagram takes there and back, as far as it is known.
    pub fn round_trip_time(&self) -> Duration {
        self.connection.rtt()
    }

    /// Returns whether the handshake is incomplete.
    pub fn is_handshaking(&self) -> bool {
        self.connection.is_handshaking()
    }

    /// Returns whether requests may pass before the handshake is complete (0-RTT): on a client, whether it has a session whose server has
    /// permitted that; on a server, whether it takes them on this connection.
    pub fn has_early_data(&self) -> bool {
        self.connection.has_0rtt()
    }

    /// Returns whether the server has taken what a client sent before the handshake was complete. If not, its streams are gone, and
    /// nothing has happened on the server.
    pub fn early_data_is_accepted(&self) -> bool {
        self.connection.accepted_0rtt()
    }

    /// Returns the server name that the client has sent (SNI); `None` on a client's side.
    pub fn server_name(&self) -> Option<String> {
        Facts::of(self.connection.crypto_session()).server_name
    }

    /// Returns the client's certificate chain in DER, its own certificate first; empty if none was requested.
    pub fn client_certificates(&self) -> Vec<Vec<u8>> {
        Facts::of(self.connection.crypto_session()).client_certificates
    }

    /// Returns the next event.
    #[inline]
    pub fn next_event(&mut self) -> Option<QuicEvent> {
        loop {
            return Some(match self.connection.poll()? {
                Event::Connected => QuicEvent::Connected,
                Event::ConnectionLost { reason } => QuicEvent::Lost(self.explained(reason)),
                Event::Stream(StreamEvent::Readable { id }) => QuicEvent::Readable(id),
                Event::Stream(StreamEvent::Writable { id }) => QuicEvent::Writable(id),
                Event::Stream(StreamEvent::Stopped { id, error_code }) => {
                    QuicEvent::Stopped(id, error_code.into_inner())
                }
                Event::Stream(StreamEvent::Opened { dir: Dir::Uni }) => QuicEvent::Opened,
                Event::Stream(StreamEvent::Opened { dir: Dir::Bi }) => QuicEvent::Requested,
                Event::Stream(StreamEvent::Finished { id }) => QuicEvent::Acknowledged(id),
                _ => continue,
            });
        }
    }

    fn explained(&self, reason: quinn_proto::ConnectionError) -> QuicError {
        let facts = Facts::of(self.connection.crypto_session());
        QuicError::new(reason, facts.error, self.client.as_deref())
    }

    /// Returns when the time-out of the connection is due, unless something else happens before.
    #[inline]
    pub fn timeout(&mut self) -> Option<Instant> {
        self.connection.poll_timeout()
    }

    /// Closes the connection. The last datagrams are then to be written.
    pub fn close(&mut self, code: u64) {
        self.connection.close(Instant::now(), varint(code), Bytes::new());
    }

    /// Returns the negotiated parameters; `None` before the handshake is complete, and on a server before it takes early data.
    pub fn negotiated(&self) -> Option<NegotiatedTls> {
        Facts::of(self.connection.crypto_session()).negotiated
    }

    /// Returns the number of packets that were sent and taken to be lost, and of all that were sent.
    pub fn packets(&self) -> (u64, u64) {
        let path = self.connection.stats().path;
        (path.lost_packets, path.sent_packets)
    }

    /// Returns the number of a stream (RFC 9000, section 2.1).
    #[inline]
    pub fn number(stream: StreamId) -> u64 {
        VarInt::from(stream).into_inner()
    }

    /// Returns whether only one side sends on a stream.
    #[inline]
    pub fn is_unidirectional(stream: StreamId) -> bool {
        stream.dir() == Dir::Uni
    }

    /// Opens a stream for a request; `None` if the peer allows no more for now.
    #[inline]
    pub fn open(&mut self) -> Option<StreamId> {
        self.connection.streams().open(Dir::Bi)
    }

    /// Opens a unidirectional stream; `None` if the peer allows none.
    pub fn open_unidirectional(&mut self) -> Option<StreamId> {
        self.connection.streams().open(Dir::Uni)
    }

    /// Returns the next unidirectional stream that the peer has opened.
    pub fn accept(&mut self) -> Option<StreamId> {
        self.connection.streams().accept(Dir::Uni)
    }

    /// Returns the next stream of a request that the client has opened.
    pub fn accept_request(&mut self) -> Option<StreamId> {
        self.connection.streams().accept(Dir::Bi)
    }

    /// Sends bytes on a stream, as far as the windows allow, and takes them off the front. Returns whether none are left.
    pub fn write(&mut self, stream: StreamId, bytes: &mut Bytes) -> bool {
        while !bytes.is_empty() {
            let mut chunks = [std::mem::take(bytes)];
            let written = self.connection.send_stream(stream).write_chunks(&mut chunks);
            [*bytes] = chunks;
            match written {
                Ok(_) => {}
                Err(WriteError::Blocked) => return false,
                // The peer does not want the rest.
                Err(WriteError::Stopped(_) | WriteError::ClosedStream) => *bytes = Bytes::new(),
            }
        }
        true
    }

    /// Ends this side of a stream.
    pub fn finish(&mut self, stream: StreamId) {
        // A stream that the peer has stopped needs no end.
        let _ = self.connection.send_stream(stream).finish();
    }

    /// Gives up a stream in both directions.
    pub fn give_up(&mut self, stream: StreamId, code: u64) {
        // Either direction may have ended.
        let _ = self.connection.send_stream(stream).reset(varint(code));
        self.stop(stream, code);
    }

    /// Does not read a stream any further.
    pub fn stop(&mut self, stream: StreamId, code: u64) {
        let _ = self.connection.recv_stream(stream).stop(varint(code));
    }

    /// Adds the bytes of a stream that have arrived, in their order, to `chunks`.
    pub fn read(&mut self, stream: StreamId, chunks: &mut Vec<Bytes>) -> ReadEnd {
        self.read_up_to(stream, usize::MAX, chunks)
    }

    /// Adds bytes of a stream that have arrived, in their order, to `chunks`, as many as there is room for. After
    /// [`ReadEnd::Open`] with no room left there may be more.
    pub fn read_up_to(&mut self, stream: StreamId, mut room: usize, chunks: &mut Vec<Bytes>) -> ReadEnd {
        let mut stream = self.connection.recv_stream(stream);
        let Ok(mut read) = stream.read(true) else { return ReadEnd::Open };
        let end = loop {
            if room == 0 {
                break ReadEnd::Open;
            }
            match read.next(room) {
                Ok(Some(chunk)) => {
                    room = room.saturating_sub(chunk.bytes.len());
                    chunks.push(chunk.bytes);
                }
                Ok(None) => break ReadEnd::Finished,
                Err(ReadError::Blocked) => break ReadEnd::Open,
                Err(ReadError::Reset(code)) => break ReadEnd::Reset(code.into_inner()),
            }
        };
        // The new limits leave with the next datagrams.
        let _ = read.finalize();
        end
    }
}

fn varint(code: u64) -> VarInt {
    VarInt::from_u64(code).unwrap_or(VarInt::MAX)
}
