//! The server's side: the endpoint of a worker, which distributes the datagrams of its socket among connections.

use super::channel::QuicChannel;
use super::session;
use super::worker_id::WorkerIds;
use crate::datagrams::MOST_DATAGRAMS;
use crate::tls::{TlsAcceptor, TlsError};
use bytes::BytesMut;
use quinn_proto::{
    ConnectionEvent, ConnectionHandle, DatagramEvent, Dir, Endpoint, EndpointConfig, Incoming, ServerConfig, Transmit,
    TransportConfig, VarInt,
};
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The receive windows of a stream and of a connection, in bytes: what a client may send that no handler has read yet.
const STREAM_WINDOW: u32 = 512 * 1024;
const WINDOW: u32 = 1024 * 1024;
/// The bytes that a connection keeps until the client has acknowledged them.
const SEND_WINDOW: u64 = 1024 * 1024;
/// The unidirectional streams that a client may have open: HTTP/3 has three, and some clients open another one that means nothing.
const STREAMS: u32 = 4;

/// The limits of connections.
#[derive(Debug, Clone, Copy)]
pub struct QuicLimits {
    /// The number of requests that a client may have in flight on a new connection, until [`QuicChannel::allow_requests`] allows more.
    pub requests: u32,
    /// The time after which a quiet client gets a PING. After another such time without a reply a connection is lost.
    pub quiet: Duration,
    /// Whether a client that resumes a session may send requests with its first datagrams (0-RTT). Others may send these again to another
    /// process, so that they must be safe ones.
    pub early_data: bool,
}

/// The settings of a server, which all of its workers share.
#[derive(Clone)]
pub struct QuicServer {
    endpoint: EndpointConfig,
    server: Arc<ServerConfig>,
}

impl std::fmt::Debug for QuicServer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("QuicServer").finish_non_exhaustive()
    }
}

impl QuicServer {
    /// Creates the settings of a server of HTTP/3. Connections begin with the current certificates of `tls`.
    ///
    /// # Errors
    /// [`TlsError::NoProvider`] if no cryptography is compiled in, [`TlsError::Protocol`] if the settings allow no TLS 1.3.
    pub fn new(tls: &TlsAcceptor, limits: QuicLimits) -> Result<Self, TlsError> {
        let mut endpoint = session::endpoint()?;
        endpoint.supported_versions(vec![session::VERSION]);
        let mut server = session::server(Arc::new(session::Server::new(tls.clone(), limits.early_data)?))?;
        let mut transport = TransportConfig::default();
        let lost = u64::try_from(limits.quiet.as_millis()).unwrap_or(u64::MAX).saturating_mul(2);
        transport.max_idle_timeout(Some(VarInt::from_u64(lost).unwrap_or(VarInt::MAX).into()));
        transport.keep_alive_interval(Some(limits.quiet));
        transport.max_concurrent_bidi_streams(limits.requests.into()).max_concurrent_uni_streams(STREAMS.into());
        transport.receive_window(WINDOW.into()).stream_receive_window(STREAM_WINDOW.into()).send_window(SEND_WINDOW);
        transport.datagram_receive_buffer_size(None);
        server.transport_config(Arc::new(transport));
        Ok(Self { endpoint, server: Arc::new(server) })
    }

    /// Creates the endpoint of the worker of this number.
    pub fn endpoint(&self, worker: u16) -> QuicEndpoint {
        let mut config = self.endpoint.clone();
        config.cid_generator(move || Box::new(WorkerIds { worker }));
        let server = Some(Arc::clone(&self.server));
        QuicEndpoint { endpoint: Endpoint::new(Arc::new(config), server, true, None) }
    }
}

/// The endpoint of one worker.
pub struct QuicEndpoint {
    endpoint: Endpoint,
}

impl std::fmt::Debug for QuicEndpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("QuicEndpoint").finish_non_exhaustive()
    }
}

/// Datagrams that are to be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transmission {
    /// The number of bytes of all datagrams.
    pub len: usize,
    /// The size of each datagram but the last one.
    pub size: usize,
    /// The address to send to.
    pub peer: SocketAddr,
    /// The address to send from, if it is known.
    pub local: Option<IpAddr>,
}

impl Transmission {
    fn of(transmit: &Transmit) -> Self {
        Self {
            len: transmit.size,
            size: transmit.segment_size.unwrap_or(transmit.size),
            peer: transmit.destination,
            local: transmit.src_ip,
        }
    }
}

/// A connection that a client wants to begin.
#[derive(Debug)]
pub struct QuicIncoming(Incoming);

impl QuicIncoming {
    /// Returns the client's address, which may be forged unless it is validated.
    pub fn peer(&self) -> SocketAddr {
        self.0.remote_address()
    }

    /// Returns the address that the client has sent to, if it is known.
    pub fn local(&self) -> Option<IpAddr> {
        self.0.local_ip()
    }

    /// Returns whether the client receives at its address, which it has shown by the token of a Retry packet.
    pub fn is_validated(&self) -> bool {
        self.0.remote_address_validated()
    }
}

/// The meaning of a datagram.
#[derive(Debug)]
pub enum Arrived {
    /// The datagram was for the connection of this key.
    Connection(usize, ConnectionEvent),
    /// A client wants to begin a connection.
    Incoming(QuicIncoming),
    /// Nothing, but that this is to be sent.
    Reply(Transmission),
    /// Nothing.
    Nothing,
}

impl QuicEndpoint {
    /// Takes a datagram. `out` gets the bytes of a reply.
    pub fn handle(
        &mut self,
        peer: SocketAddr,
        local: Option<IpAddr>,
        datagram: BytesMut,
        out: &mut Vec<u8>,
    ) -> Arrived {
        out.clear();
        match self.endpoint.handle(Instant::now(), peer, local, None, datagram, out) {
            Some(DatagramEvent::ConnectionEvent(ConnectionHandle(key), event)) => Arrived::Connection(key, event),
            Some(DatagramEvent::NewConnection(incoming)) => Arrived::Incoming(QuicIncoming(incoming)),
            Some(DatagramEvent::Response(transmit)) => Arrived::Reply(Transmission::of(&transmit)),
            None => Arrived::Nothing,
        }
    }

    /// Begins a connection. Returns the connection and its key.
    ///
    /// # Errors
    /// What is to be sent where the client's first packet was none that can begin a connection.
    pub fn accept(
        &mut self,
        incoming: QuicIncoming,
        out: &mut Vec<u8>,
    ) -> Result<(usize, QuicChannel), Option<Transmission>> {
        out.clear();
        match self.endpoint.accept(incoming.0, Instant::now(), out, None) {
            Ok((handle, connection)) => Ok((handle.0, QuicChannel::new(handle, connection, None))),
            Err(error) => Err(error.response.as_ref().map(Transmission::of)),
        }
    }

    /// Refuses a connection.
    pub fn refuse(&mut self, incoming: QuicIncoming, out: &mut Vec<u8>) -> Transmission {
        out.clear();
        Transmission::of(&self.endpoint.refuse(incoming.0, out))
    }

    /// Has the client show that it receives at its address, by a Retry packet; `None` if it has shown that, and the connection is not
    /// begun.
    pub fn retry(&mut self, incoming: QuicIncoming, out: &mut Vec<u8>) -> Option<Transmission> {
        out.clear();
        match self.endpoint.retry(incoming.0, out) {
            Ok(transmit) => Some(Transmission::of(&transmit)),
            Err(error) => {
                self.endpoint.ignore(error.into_incoming());
                None
            }
        }
    }
}

impl QuicChannel {
    /// Takes what the endpoint found in a datagram.
    pub fn take(&mut self, event: ConnectionEvent) {
        self.connection.handle_event(event);
    }

    /// Does what is due by now.
    pub fn advance(&mut self, now: Instant) {
        if self.timeout().is_some_and(|at| at <= now) {
            self.connection.handle_timeout(now);
        }
    }

    /// Makes the next datagrams that are to be sent in `out`; `None` if there are none.
    pub fn transmit(&mut self, out: &mut Vec<u8>) -> Option<Transmission> {
        out.clear();
        let transmit = self.connection.poll_transmit(Instant::now(), MOST_DATAGRAMS, out)?;
        Some(Transmission::of(&transmit))
    }

    /// Passes on to the endpoint what it has to know. Returns whether the connection has ended, and its key is free again.
    pub fn settle(&mut self, endpoint: &mut QuicEndpoint) -> bool {
        self.exchange(&mut endpoint.endpoint)
    }

    /// Allows a client so many requests in flight.
    pub fn allow_requests(&mut self, most: u32) {
        self.connection.set_max_concurrent_streams(Dir::Bi, most.into());
    }

    /// Returns whether the connection has ended or is about to, so that no stream of it can be used.
    pub fn is_closed(&self) -> bool {
        self.connection.is_closed()
    }

    /// Returns the client's address, which may change during a connection.
    pub fn peer(&self) -> SocketAddr {
        self.connection.remote_address()
    }
}
