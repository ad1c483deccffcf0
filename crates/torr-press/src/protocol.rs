//! The interface between the event loop and the protocol of a connection: bytes in, events out.

pub(crate) mod by_alpn;
pub(crate) mod either_tls;
pub(crate) mod http1;
pub(crate) mod http2;
pub(crate) mod http3;
mod message;
pub(crate) mod tls;
pub(crate) mod websocket;

use crate::response::events::EventArrival;
use crate::response::failed::FailedResponseBuffer;
use crate::response::kept::KeptResponse;
use crate::work::source::Source;
use crate::work::users::Message;
use std::io;
use std::num::NonZero;
use std::os::fd::AsFd;
use std::time::Instant;
use torr_gauge::collector::FirstResponse;
use torr_gauge::{Failure, Sample};
use torr_net::tls::NegotiatedTls;
use torr_net::{Nanos, socket};
use torr_wire::response::Response;

/// The state of one connection's protocol. It sees bytes only: socket, clock and counters belong to the engine.
pub trait Protocol {
    /// Whether events may be left after all input was consumed: [`Protocol::receive`] is then called again, without
    /// input, until it returns no event.
    const BUFFERS_EVENTS: bool;
    /// Whether responses arrive in any order, and carry the key of their request.
    const MULTIPLEXES: bool;
    /// Whether responses may be streams, whose events [`Protocol::take_arrival`] returns.
    const STREAMS: bool;
    /// Whether connections begin and end with handshakes of the protocol itself.
    const HAS_HANDSHAKES: bool = false;
    /// Whether [`Protocol::close`] may write the last bytes of a connection.
    const HAS_LAST_BYTES: bool = Self::HAS_HANDSHAKES;
    /// Whether bytes are trains of datagrams (`torr_net::datagrams`), of a protocol that has timers: [`Protocol::flush`] is called also
    /// where no request was started, and [`Protocol::time_out`] at [`Protocol::next_timeout`].
    const DATAGRAMS: bool = false;
    /// The least room for one receive, in bytes.
    const ROOM: usize = 16 * 1024;
    /// The number of bytes of each receive that no server has sent.
    const OVERHEAD: usize = 0;
    /// State that all connections of a thread share, such as buffers.
    type ThreadState: Default;

    /// Notes the protocol that a TLS handshake has negotiated (ALPN), before [`Protocol::open`].
    fn negotiated(&mut self, _protocol: Option<&[u8]>) {}

    /// Whether responses arrive in any order on this connection, which [`Protocol::MULTIPLEXES`] says of the type.
    #[inline]
    fn multiplexes(&self) -> bool {
        Self::MULTIPLEXES
    }

    /// Resets the state for a new connection. Bytes that precede the first request go to `out`.
    fn open(&mut self, out: &mut Vec<u8>);

    /// Whether a handshake, of TLS or of the protocol, has to complete before the first request.
    fn is_handshaking(&self) -> bool {
        false
    }

    /// Returns the parameters of a completed TLS handshake.
    fn secured(&self) -> Option<NegotiatedTls> {
        None
    }

    /// Returns, once, the parameters of a handshake that requests have not waited for, when it is complete.
    #[inline]
    fn late_handshake(&mut self) -> Option<NegotiatedTls> {
        None
    }

    /// Returns the server's own certificate in DER, once a TLS handshake is complete.
    fn certificate(&self) -> Option<&[u8]> {
        None
    }

    /// Whether one more request can be started now.
    #[inline]
    fn has_room(&self) -> bool {
        true
    }

    /// Writes the next request to `out`, or buffers it until [`Protocol::flush`]. Returns whether its method is HEAD. Content
    /// that the protocol leaves to [`Source::take_content`] has to be sent behind it as it is.
    fn start(&mut self, thread: &mut Self::ThreadState, key: u32, source: &mut Source<'_>, out: &mut Vec<u8>) -> bool;

    /// Writes the buffered requests to `out`.
    ///
    /// # Errors
    /// Returns an error if the requests cannot be encoded. The connection has to be closed then.
    #[inline]
    fn flush(&mut self, _thread: &mut Self::ThreadState, _out: &mut Vec<u8>) -> Result<(), Failure> {
        Ok(())
    }

    /// Consumes bytes from the front of `input`, up to the next event or all of them, and may overwrite them. Bytes to be
    /// sent in return go to `out`.
    ///
    /// # Errors
    /// Returns an error if the bytes violate the protocol. The connection has to be closed then.
    fn receive(
        &mut self,
        thread: &mut Self::ThreadState,
        input: &mut [u8],
        at: Nanos,
        in_flight: InFlight<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(usize, Option<ProtocolEvent>), Failure>;

    /// Handles the end of the server's side, and returns the event that it completes.
    ///
    /// # Errors
    /// Returns an error if the end cuts a response short.
    fn server_closed(&mut self) -> Result<Option<ProtocolEvent>, Failure>;

    /// Whether the server has ended its side within the protocol, although its socket may stay open.
    #[inline]
    fn has_ended(&self) -> bool {
        false
    }

    /// Whether more bytes of the requests that were started can be written once those before have been sent.
    #[inline]
    fn has_more(&self) -> bool {
        false
    }

    /// Writes a further piece of the requests that were started to `out`, so that large content need not be copied at once.
    ///
    /// # Errors
    /// Returns an error if the piece cannot be encoded. The connection has to be closed then.
    fn write_more(&mut self, _thread: &mut Self::ThreadState, _out: &mut Vec<u8>) -> Result<(), Failure> {
        Ok(())
    }

    /// Discards the state of requests in flight, which have failed.
    fn discard_in_flight(&mut self) {}

    /// Whether no further request can be started on this connection.
    fn is_draining(&self) -> bool {
        false
    }

    /// Takes events of streams that have arrived by the time `at`, those of one stream at a time, until there are none.
    #[inline]
    fn take_arrival(&mut self, _at: Nanos) -> Option<EventArrival> {
        None
    }

    /// Returns the key of an open stream whose latest event is not later than this; without multiplexing it has no meaning.
    fn silent_since(&self, _at: Nanos) -> Option<u32> {
        None
    }

    /// Returns the time of the latest event of the open stream of this key; `None` before its first one.
    fn last_event(&self, _key: u32) -> Option<Nanos> {
        None
    }

    /// Whether a response that is incomplete is an event stream, although responses are read as a whole.
    fn has_event_stream(&self, _thread: &mut Self::ThreadState) -> bool {
        false
    }

    /// Takes the first response of the run, if it was to be kept and arrived here.
    fn first_response(&mut self) -> Option<FirstResponse> {
        None
    }

    /// Takes the reason for which the response of the latest event, a redirect, is not followed although it should be.
    fn redirect_failure(&mut self) -> Option<Failure> {
        None
    }

    /// Returns the response that the latest event has completed, if responses are kept.
    fn kept(&mut self) -> Option<&mut KeptResponse> {
        None
    }

    /// Returns the response to the request of this key as far as it has arrived, if responses are kept; without multiplexing the key
    /// has no meaning.
    fn arriving(&mut self, _key: u32) -> Option<&mut KeptResponse> {
        None
    }

    /// Ends the stream that responds to the request of this key, which its user has left. Returns the response.
    fn leave_stream(
        &mut self,
        _thread: &mut Self::ThreadState,
        _key: u32,
        _out: &mut Vec<u8>,
    ) -> Option<ReceivedResponse> {
        None
    }

    /// Writes a message on the WebSocket that the request in flight has opened.
    fn send_message(&mut self, _thread: &mut Self::ThreadState, _message: &Message, _out: &mut Vec<u8>) {}

    /// Writes the last bytes of a connection that was ready for requests, before it is closed by either side.
    fn close(&mut self, _thread: &mut Self::ThreadState, _out: &mut Vec<u8>) {}

    /// Returns when [`Protocol::time_out`] is to be called, unless bytes arrive before; `None` if it need not be.
    fn next_timeout(&mut self) -> Option<Instant> {
        None
    }

    /// Does what is due. Events and bytes that follow from it are those of [`Protocol::receive`] and [`Protocol::flush`].
    fn time_out(&mut self) {}

    /// Adds what the connection, and the kernel for its socket, have counted since the last call to the state of the thread.
    fn settle(&mut self, _thread: &mut Self::ThreadState, _socket: impl AsFd) {}

    /// Sends bytes that the protocol has written, and returns the number of bytes that the socket took.
    ///
    /// # Errors
    /// Returns the errors of [`socket::send`].
    #[inline]
    fn send(_thread: &mut Self::ThreadState, socket: impl AsFd, bytes: &[u8]) -> io::Result<usize> {
        socket::send(socket, bytes)
    }

    /// Receives bytes for the protocol. `Some(0)` is the end of the stream, `None` that no bytes are available.
    ///
    /// # Errors
    /// Returns the errors of [`socket::recv`].
    #[inline]
    fn recv(_thread: &mut Self::ThreadState, socket: impl AsFd, room: &mut [u8]) -> io::Result<Option<usize>> {
        socket::recv(socket, room)
    }

    /// Adds what the protocol has counted since the last call to a sample.
    #[inline]
    fn add_tally(_thread: &mut Self::ThreadState, _sample: &mut Sample) {}

    /// Cancels one request. Returns whether the connection can be used further.
    fn cancel(&mut self, _thread: &mut Self::ThreadState, _key: u32, _out: &mut Vec<u8>) -> bool {
        false
    }
}

/// The requests in flight on a connection, as far as a protocol needs them to read responses.
#[derive(Debug)]
pub struct InFlight<'b> {
    /// The number of requests.
    pub count: usize,
    /// Whether the method of the oldest is HEAD.
    pub oldest_is_head: bool,
    /// The buffer for a response with a status of 400 or more, as long as none has been kept.
    pub failed_response: Option<&'b mut FailedResponseBuffer>,
}

/// An event on a connection that the engine has to act on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProtocolEvent {
    /// A response is complete.
    Response(ReceivedResponse),
    /// The response to the request in flight has switched the connection to WebSocket. It is complete when that is closed.
    Switched,
    /// The request of this key has failed; the connection stays open.
    Failed(u32, Failure),
    /// The server has not processed the request of this key, which may be sent again on another connection.
    Unprocessed(u32),
    /// The response to the oldest request is a redirect that is followed on another connection. The protocol writes the request
    /// that follows when the request is started there.
    RedirectedElsewhere,
}

/// A complete response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReceivedResponse {
    /// The key of its request. Without multiplexing it has no meaning: the response is that to the oldest request.
    pub key: u32,
    /// The time of its first byte, if that arrived before the last.
    pub first_byte: Option<NonZero<Nanos>>,
    /// Status, persistence and length.
    pub response: Response,
    /// The checks that it failed, a bit each.
    pub failed_checks: u32,
    /// The number of redirects that were followed to it.
    pub redirects: u8,
    /// Whether it is a stream that the client has ended, of which more may come.
    pub ended_here: bool,
}
