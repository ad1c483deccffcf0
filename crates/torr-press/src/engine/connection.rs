//! The state of one connection.

use super::in_flight::{InFlightRequest, RequestQueue};
use super::unsent_bytes::UnsentBytes;
use crate::response::failed::FailedResponseBuffer;
use crate::work::users::{Phases, Transferred};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use torr_gauge::Failure;
use torr_gauge::sockets::SocketCounters;
use torr_net::tls::NegotiatedTls;
use torr_net::{Address, Nanos, Token};
use torr_wire::response::ResponseReader;

/// A connection of the plan, whose sockets come and go. What each request touches fits one cache line.
pub(super) struct Connection<P> {
    /// The socket; `None` while the connection is closed.
    pub socket: Option<Socket>,
    /// The number of former sockets, by which a late event of one of them is recognised.
    pub generation: u32,
    pub protocol: P,
    pub requests: RequestQueue,
    /// Failures since the last response, as far as they can be counted.
    pub failures: u8,
    /// The number of the youngest requests that have not been written yet, because the connection is not ready for them.
    pub unwritten: u16,
    pub cold: Box<Cold>,
}

/// A socket of a connection.
pub(super) struct Socket {
    fd: OwnedFd,
    pub stage: Stage,
    pub sending: Sending,
    /// Whether the socket is registered with the poller.
    pub registered: bool,
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// The progress of a socket towards sending requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    /// The socket is not known to be connected.
    Connecting,
    /// The proxy has been sent a CONNECT.
    Tunnelling,
    /// A handshake is in progress: that of TLS where there is TLS, otherwise that of the protocol.
    Handshaking,
    /// The handshake of TLS is complete, that of the protocol within is in progress.
    Upgrading,
    /// Requests can be sent.
    Open,
}

/// Whether a socket takes bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sending {
    /// Bytes can be sent at once.
    Free,
    /// `cold.unsent` holds bytes that did not fit the socket's buffer.
    Blocked,
    /// A send has failed, as `cold.send_failure` says. Only what the server has sent is read.
    Failed,
}

/// State that only some requests touch.
#[derive(Default)]
pub(super) struct Cold {
    /// The bytes sent and received since they were last reported to a user, where users may park.
    pub transferred: Transferred,
    /// When connecting began.
    pub opened_at: Nanos,
    /// When the connection was established.
    pub established_at: Nanos,
    /// When the connection was ready for requests, after all handshakes; while it is upgrading, when that of TLS was complete.
    pub ready_at: Nanos,
    /// The parameters of TLS, where users may park.
    pub tls: Option<Box<NegotiatedTls>>,
    /// The address of the latest socket's other end.
    pub address: Option<Address>,
    /// The position of the address that the next socket connects to, among the plan's in turn.
    pub next_address: usize,
    /// Whether a socket has been connected before.
    pub was_connected: bool,
    /// The earliest timer that is set, where the protocol has timers.
    pub timer: Option<Nanos>,
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
    /// The failure of a send, after which only what the server has sent is read.
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
    /// Returns the times of the connection and of a request that it carries.
    pub fn phases(&self, request: &InFlightRequest) -> Phases {
        let (opened, established, ready, sent) = (self.opened_at, self.established_at, self.ready_at, request.due);
        Phases { opened, established, ready, sent, first_byte: 0, end: 0 }
    }

    /// Returns a key for the next request.
    pub fn new_key(&mut self) -> u32 {
        self.last_key = self.last_key.wrapping_add(1);
        self.last_key
    }
}

impl<P> Connection<P> {
    /// Takes a new socket, and counts it among those that are `opening`.
    pub fn connects(&mut self, fd: OwnedFd, opening: &mut usize) {
        self.socket = Some(Socket { fd, stage: Stage::Connecting, sending: Sending::Free, registered: false });
        *opening += 1;
    }

    /// Notes how far the socket has come, and counts it out of those that are `opening` once it is open.
    pub fn set_stage(&mut self, stage: Stage, opening: &mut usize) {
        if let Some(socket) = &mut self.socket {
            *opening -= usize::from(stage == Stage::Open && socket.stage != Stage::Open);
            socket.stage = stage;
        }
    }

    /// Removes the socket, and counts it out of those that are `opening`.
    pub fn take_socket(&mut self, opening: &mut usize) -> Option<Socket> {
        let socket = self.socket.take()?;
        *opening -= usize::from(socket.stage != Stage::Open);
        Some(socket)
    }

    /// Returns how far the socket has come; `None` while the connection is closed.
    #[inline]
    pub fn stage(&self) -> Option<Stage> {
        self.socket.as_ref().map(|socket| socket.stage)
    }

    /// Whether requests can be sent.
    #[inline]
    pub fn is_open(&self) -> bool {
        self.stage() == Some(Stage::Open)
    }

    /// Whether bytes wait until the socket takes them, or will never be sent.
    #[inline]
    pub fn has_unsent(&self) -> bool {
        self.socket.as_ref().is_some_and(|socket| socket.sending != Sending::Free)
    }

    /// Notes whether `cold.unsent` holds bytes.
    pub fn note_unsent(&mut self) {
        if let Some(socket) = &mut self.socket {
            socket.sending = if self.cold.unsent.is_empty() { Sending::Free } else { Sending::Blocked };
        }
    }

    pub fn new(number: usize, protocol: P) -> Self {
        Self {
            socket: None,
            generation: 0,
            protocol,
            requests: RequestQueue::default(),
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
        let clock_pending = !is_scheduled && (self.is_open() || others_wait());
        let (is_head, is_streaming) = (false, false);
        self.requests.push(InFlightRequest { due, key: 0, clock_pending, in_warmup, is_head, is_streaming });
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::http1::Http1;

    #[test]
    fn a_connection_without_inspection_fits_a_cache_line() {
        assert!(size_of::<Connection<Http1>>() <= 64, "{} bytes", size_of::<Connection<Http1>>());
    }
}
