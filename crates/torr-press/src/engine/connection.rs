//! The state of one connection.

use super::in_flight::{InFlightRequest, RequestQueue};
use super::unsent_bytes::UnsentBytes;
use crate::response::failed::FailedResponseBuffer;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use torr_gauge::Failure;
use torr_gauge::sockets::SocketCounters;
use torr_net::{Nanos, Token};
use torr_wire::response::ResponseReader;

/// A connection of the plan, whose sockets come and go. What each request touches fits one cache line.
pub(super) struct Connection<P> {
    pub socket: Option<OwnedFd>,
    /// The number of former sockets, by which a late event of one of them is recognised.
    pub generation: u32,
    pub protocol: P,
    pub requests: RequestQueue,
    pub state: ConnectionState,
    /// Whether the socket is registered with the poller.
    pub registered: bool,
    /// Whether `cold.unsent` holds bytes that did not fit the socket's buffer, or a send has failed.
    pub has_unsent: bool,
    /// Failures since the last response, as far as they can be counted.
    pub failures: u8,
    /// The number of the youngest requests that have not been written yet, because the connection is not ready for them.
    pub unwritten: u16,
    pub cold: Box<Cold>,
}

/// The progress of a connection towards sending requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ConnectionState {
    /// There is no socket.
    Closed,
    /// The socket is not known to be connected.
    Connecting,
    /// The proxy has been sent a CONNECT.
    Tunnelling,
    /// The protocol's handshake is in progress.
    Handshaking,
    /// Requests can be sent.
    Open,
}

/// State that only some requests touch.
#[derive(Default)]
pub(super) struct Cold {
    /// When connecting began.
    pub opened_at: Nanos,
    /// When the connection was established.
    pub established_at: Nanos,
    /// The position of the address that the next socket connects to, among the plan's in turn.
    pub next_address: usize,
    /// Whether a socket has been connected before.
    pub was_connected: bool,
    /// Requests begun on this socket.
    pub begun: u64,
    /// The key of the latest request, for protocols that multiplex.
    pub last_key: u32,
    /// The end of the back-off after a failure.
    pub back_off_until: Nanos,
    /// Slots that are available, but have to wait for the next socket.
    pub parked_slots: u16,
    /// Bytes that did not fit the socket's buffer.
    pub unsent: UnsentBytes,
    /// The failure of a send, after which only what the server has sent is read. `has_unsent` is set then.
    pub send_failure: Option<Failure>,
    /// The latest statistics of the socket.
    pub snapshot: Option<Box<SocketSnapshot>>,
    /// The parser of the proxy's response.
    pub tunnel: ResponseReader,
    /// The buffer for a failed response, where one is to be kept.
    pub failed_response: FailedResponseBuffer,
    /// The server's certificate in DER, for sessions over TLS.
    pub certificate: Option<Arc<[u8]>>,
}

/// The statistics of a socket at one time.
pub(super) struct SocketSnapshot {
    pub at: Nanos,
    pub growing: SocketCounters,
}

impl Cold {
    /// Returns a key for the next request.
    pub fn new_key(&mut self) -> u32 {
        self.last_key = self.last_key.wrapping_add(1);
        self.last_key
    }
}

impl ConnectionState {
    /// Whether there is a socket on which no request can be sent yet.
    fn is_opening(self) -> bool {
        !matches!(self, Self::Closed | Self::Open)
    }
}

impl<P> Connection<P> {
    /// Notes how far the connection has come, and counts it in or out of those that are `opening`.
    pub fn set_state(&mut self, state: ConnectionState, opening: &mut usize) {
        let was = std::mem::replace(&mut self.state, state);
        *opening += usize::from(state.is_opening());
        *opening -= usize::from(was.is_opening());
    }

    pub fn new(number: usize, protocol: P) -> Self {
        Self {
            socket: None,
            generation: 0,
            protocol,
            requests: RequestQueue::default(),
            state: ConnectionState::Closed,
            registered: false,
            has_unsent: false,
            failures: 0,
            unwritten: 0,
            cold: Box::new(Cold { next_address: number, ..Cold::default() }),
        }
    }

    /// Returns how many requests have been written and not answered.
    #[inline]
    pub fn written(&self) -> usize {
        self.requests.len() - usize::from(self.unwritten)
    }

    /// Adds a request that is due at a time, to be written.
    #[inline]
    pub fn add_request(&mut self, due: Nanos, is_scheduled: bool, in_warmup: bool) {
        // A request that waits for a connection with others waits no less than they do.
        let others_wait = || self.requests.oldest().is_none_or(|oldest| oldest.clock_pending);
        let clock_pending = !is_scheduled && (self.state == ConnectionState::Open || others_wait());
        self.requests.push(InFlightRequest { due, key: 0, clock_pending, in_warmup, is_head: false });
        self.unwritten += 1;
    }

    /// Drops the bytes of a failed response, of which none is needed any more.
    pub fn drop_failed_response(&mut self) {
        self.cold.failed_response = FailedResponseBuffer::default();
    }

    /// Starts the clocks of the requests that are not written yet.
    #[cold]
    pub fn start_clocks_of_unwritten(&mut self, now: impl Fn() -> Nanos) {
        self.requests.start_clocks_of_youngest(self.unwritten.into(), now);
    }
}

/// Returns the connection of a token, unless the token is that of a former socket.
#[inline]
pub(super) fn current<P>(connections: &mut [Connection<P>], token: Token) -> Option<&mut Connection<P>> {
    connections.get_mut(token.index()).filter(|c| c.generation == token.generation() && c.socket.is_some())
}
