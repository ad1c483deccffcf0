//! Connections of QUIC, without I/O (RFC 9000): datagrams in and out of the caller's buffers.
//!
//! The state machine is `quinn-proto`. A client's connection has a socket of its own, so that its datagrams need no address: the
//! endpoint of `quinn-proto`, which distributes datagrams of one socket among connections, has one connection there. A server's
//! endpoint ([`QuicEndpoint`]) is that of a worker.

mod channel;
mod early_data;
mod error;
mod keys;
mod server;
mod session;
mod worker_id;

pub use channel::{QuicChannel, QuicEvent, ReadEnd};
pub use error::QuicError;
pub use quinn_proto::StreamId;
pub use server::{Arrived, QuicEndpoint, QuicIncoming, QuicLimits, QuicServer, Transmission};
pub use worker_id::worker_of;

use crate::datagrams::{self, MOST_DATAGRAMS};
use crate::tls::{TlsConfig, TlsError};
use bytes::BytesMut;
use quinn_proto::{ClientConfig, DatagramEvent, Endpoint, EndpointConfig, TransportConfig};
use std::net::{Ipv4Addr, SocketAddr};
use std::ops::{Deref, DerefMut};
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
        let channel = QuicChannel::new(handle, connection, Some(Arc::clone(&self.crypto)));
        Ok(QuicConnection { endpoint, channel })
    }
}

/// A connection of a client, with an endpoint of its own.
pub struct QuicConnection {
    endpoint: Endpoint,
    channel: QuicChannel,
}

impl Deref for QuicConnection {
    type Target = QuicChannel;

    fn deref(&self) -> &QuicChannel {
        &self.channel
    }
}

impl DerefMut for QuicConnection {
    fn deref_mut(&mut self) -> &mut QuicChannel {
        &mut self.channel
    }
}

impl std::fmt::Debug for QuicConnection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("QuicConnection").finish_non_exhaustive()
    }
}

impl QuicConnection {
    /// Takes trains of datagrams that were received. [`QuicChannel::next_event`] tells what they mean.
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
                    && handle == self.channel.handle
                {
                    self.channel.connection.handle_event(event);
                }
            }
        }
        self.channel.exchange(&mut self.endpoint);
    }

    /// Appends trains of the datagrams that are to be sent. `room` is memory whose content does not matter.
    pub fn write_datagrams(&mut self, room: &mut Vec<u8>, out: &mut Vec<u8>) {
        let now = Instant::now();
        loop {
            room.clear();
            let Some(transmit) = self.channel.connection.poll_transmit(now, MOST_DATAGRAMS, room) else { break };
            datagrams::push_train(&room[..transmit.size], transmit.segment_size.unwrap_or(transmit.size), out);
        }
        self.channel.exchange(&mut self.endpoint);
    }

    /// Does what is due.
    pub fn time_out(&mut self) {
        self.channel.connection.handle_timeout(Instant::now());
        self.channel.exchange(&mut self.endpoint);
    }
}
