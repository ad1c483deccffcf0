//! Connections of QUIC, in the client's role, without I/O (RFC 9000): datagrams in and out of the caller's buffers.
//!
//! The state machine is `quinn-proto`. A connection has a socket of its own, so that its datagrams need no address: the endpoint of
//! `quinn-proto`, which distributes datagrams of one socket among connections, has one connection here.

mod error;
mod keys;
mod session;

pub use error::QuicError;
pub use quinn_proto::StreamId;

use crate::datagrams::{self, MOST_DATAGRAMS};
use crate::tls::{NegotiatedTls, TlsConfig, TlsError};
use bytes::{Bytes, BytesMut};
use quinn_proto::{
    ClientConfig, Connection, ConnectionHandle, DatagramEvent, Dir, Endpoint, EndpointConfig, Event, ReadError,
    StreamEvent, TransportConfig, VarInt, WriteError,
};
use session::Facts;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Instant;

/// The address of all peers: a connected socket sends to and receives from one only.
const PEER: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 443);
/// The receive windows of a connection and of a stream, in bytes: so large that no server ever waits for them. What arrives is
/// read at once.
const WINDOW: u32 = 1 << 30;
/// The bytes that a connection keeps until the server has acknowledged them. Those of content are shared.
const SEND_WINDOW: u64 = 4 * 1024 * 1024;
/// The unidirectional streams that a server may open: HTTP/3 has three, and some servers open another one that means nothing.
const STREAMS: u32 = 16;

/// The settings of connections to one server.
#[derive(Clone)]
pub struct QuicClient {
    endpoint: Arc<EndpointConfig>,
    client: ClientConfig,
    crypto: Arc<session::Client>,
}

impl std::fmt::Debug for QuicClient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("QuicClient").finish_non_exhaustive()
    }
}

impl QuicClient {
    /// Creates a client with a store of sessions for resumption of its own.
    ///
    /// # Errors
    /// [`TlsError::NoProvider`] if no cryptography is compiled in, [`TlsError::Protocol`] if the settings allow no TLS 1.3.
    pub fn new(tls: &TlsConfig) -> Result<Self, TlsError> {
        let mut endpoint = session::endpoint()?;
        endpoint.supported_versions(vec![session::VERSION]);
        let crypto = Arc::new(session::Client::new(tls)?);
        let mut transport = TransportConfig::default();
        // Connections without a request in flight live as long as the server likes. A request has its own time-out.
        transport.max_idle_timeout(None);
        transport.max_concurrent_bidi_streams(0_u32.into()).max_concurrent_uni_streams(STREAMS.into());
        transport.receive_window(WINDOW.into()).stream_receive_window(WINDOW.into()).send_window(SEND_WINDOW);
        transport.datagram_receive_buffer_size(None);
        let mut client = ClientConfig::new(Arc::<session::Client>::clone(&crypto));
        client.transport_config(Arc::new(transport));
        Ok(Self { endpoint: Arc::new(endpoint), client, crypto })
    }

    /// Begins a connection.
    ///
    /// # Errors
    /// If `rustls` rejects the settings.
    pub fn connect(&self) -> Result<QuicConnection, TlsError> {
        let mut endpoint = Endpoint::new(Arc::clone(&self.endpoint), None, true, None);
        let connected = endpoint.connect(Instant::now(), self.client.clone(), PEER, "");
        let (handle, connection) = connected.map_err(|error| TlsError::Protocol(error.to_string()))?;
        Ok(QuicConnection { endpoint, handle, connection, crypto: Arc::clone(&self.crypto) })
    }
}

/// An event on a connection.
#[derive(Debug)]
pub enum QuicEvent {
    /// The handshake is complete.
    Connected,
    /// The server has opened unidirectional streams: [`QuicConnection::accept`] returns them.
    Opened,
    /// A stream has bytes, has ended or was reset.
    Readable(StreamId),
    /// A stream takes more bytes.
    Writable(StreamId),
    /// The server does not want what is sent on a stream, for this reason.
    Stopped(StreamId, u64),
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
    /// The server has given up the stream, for this reason.
    Reset(u64),
}

/// A connection.
pub struct QuicConnection {
    endpoint: Endpoint,
    handle: ConnectionHandle,
    connection: Connection,
    crypto: Arc<session::Client>,
}

impl std::fmt::Debug for QuicConnection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("QuicConnection").finish_non_exhaustive()
    }
}

impl QuicConnection {
    /// Takes trains of datagrams that were received. [`QuicConnection::next_event`] tells what they mean.
    pub fn receive(&mut self, bytes: &[u8], room: &mut Vec<u8>) {
        let now = Instant::now();
        for (train, size) in datagrams::trains(bytes) {
            let mut left = BytesMut::from(train);
            while !left.is_empty() {
                let datagram = left.split_to(size.min(left.len()));
                room.clear();
                // A client owes no reply to datagrams of other connections.
                if let Some(DatagramEvent::ConnectionEvent(handle, event)) =
                    self.endpoint.handle(now, PEER, None, None, datagram, room)
                    && handle == self.handle
                {
                    self.connection.handle_event(event);
                }
            }
        }
        self.exchange();
    }

    /// Passes on what the two halves of `quinn-proto` have for each other: identifiers of the connection.
    fn exchange(&mut self) {
        while let Some(event) = self.connection.poll_endpoint_events() {
            if event.is_drained() {
                // Nothing is sent or received any more.
                continue;
            }
            if let Some(event) = self.endpoint.handle_event(self.handle, event) {
                self.connection.handle_event(event);
            }
        }
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
                _ => continue,
            });
        }
    }

    fn explained(&self, reason: quinn_proto::ConnectionError) -> QuicError {
        let facts = Facts::of(self.connection.crypto_session());
        QuicError::new(reason, facts.error, &self.crypto)
    }

    /// Appends trains of the datagrams that are to be sent. `room` is memory whose content does not matter.
    pub fn write_datagrams(&mut self, room: &mut Vec<u8>, out: &mut Vec<u8>) {
        let now = Instant::now();
        loop {
            room.clear();
            let Some(transmit) = self.connection.poll_transmit(now, MOST_DATAGRAMS, room) else { break };
            datagrams::push_train(&room[..transmit.size], transmit.segment_size.unwrap_or(transmit.size), out);
        }
        self.exchange();
    }

    /// Returns when [`QuicConnection::time_out`] is to be called, unless something else happens before.
    #[inline]
    pub fn timeout(&mut self) -> Option<Instant> {
        self.connection.poll_timeout()
    }

    /// Does what is due.
    pub fn time_out(&mut self) {
        self.connection.handle_timeout(Instant::now());
        self.exchange();
    }

    /// Closes the connection. The last datagrams are then to be written.
    pub fn close(&mut self, code: u64) {
        self.connection.close(Instant::now(), varint(code), Bytes::new());
    }

    /// Returns the negotiated parameters; `None` before the handshake is complete.
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

    /// Opens a stream for a request; `None` if the server allows no more for now.
    #[inline]
    pub fn open(&mut self) -> Option<StreamId> {
        self.connection.streams().open(Dir::Bi)
    }

    /// Opens a unidirectional stream; `None` if the server allows none.
    pub fn open_unidirectional(&mut self) -> Option<StreamId> {
        self.connection.streams().open(Dir::Uni)
    }

    /// Returns the next unidirectional stream that the server has opened.
    pub fn accept(&mut self) -> Option<StreamId> {
        self.connection.streams().accept(Dir::Uni)
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
                // The server does not want the rest.
                Err(WriteError::Stopped(_) | WriteError::ClosedStream) => *bytes = Bytes::new(),
            }
        }
        true
    }

    /// Ends this side of a stream.
    pub fn finish(&mut self, stream: StreamId) {
        // A stream that the server has stopped needs no end.
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
        let mut stream = self.connection.recv_stream(stream);
        let Ok(mut read) = stream.read(true) else { return ReadEnd::Open };
        let end = loop {
            match read.next(usize::MAX) {
                Ok(Some(chunk)) => chunks.push(chunk.bytes),
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
