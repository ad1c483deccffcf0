//! WebSocket (RFC 6455) on one connection, as a client: a message that is sent is a request, and the message that comes back, in
//! order or by a value that both have, is its response.
//!
//! The opening handshake comes before the first request, as that of TLS does. What a server sends without a
//! request is a message that it pushes. The one extension is `permessage-deflate` (RFC 7692), where it is offered.

mod channel;
mod compression;
mod listener;
mod matching;
mod messages;
mod opening;
mod switching;
mod thread;

pub use compression::{MessageCodecs, MessageCompression};
pub use listener::Listener;
pub use switching::Switching;

use crate::failures;
use crate::protocol::{InFlight, Protocol, ProtocolEvent, ReceivedResponse};
use crate::request::{Cursor, WebSocketRequests};
use crate::response::checks::Check;
use crate::response::events::SWITCHED;
use crate::work::source::Source;
use channel::Channel;
use matching::Waiting;
use messages::Received;
use std::cell::RefCell;
use std::num::NonZero;
use std::rc::Rc;
use thread::WebSocketThread;
use torr_gauge::{Failure, Sample};
use torr_net::Nanos;
use torr_wire::response::Response;
use torr_wire::websocket::{Kind, code};

/// Returns the end of the stream that the messages of a connection are, with so many bytes of content.
fn end_of_stream(first_byte: Option<NonZero<Nanos>>, body: u64, ended_here: bool) -> ReceivedResponse {
    ReceivedResponse {
        key: 0,
        first_byte,
        response: Response { status: SWITCHED, keep_alive: false, body },
        failed_checks: 0,
        redirects: 0,
        ended_here,
    }
}

/// WebSocket: responses arrive in the order of their requests, or, if it `MATCHES`, have a value of theirs.
#[derive(Debug)]
pub struct WebSocket<'p, const MATCHES: bool> {
    channel: Channel<'p>,
    checks: &'p [Check],
    /// The time of the first byte of a message that is incomplete.
    first_byte: Option<NonZero<Nanos>>,
    /// The number of requests in flight.
    in_flight: u32,
    /// The requests in flight with their values, where these matter.
    waiting: Waiting,
    /// Whether payload is kept for checks.
    keeps_payload: bool,
    /// The payload of the latest message.
    payload: Vec<u8>,
}

impl<'p, const MATCHES: bool> WebSocket<'p, MATCHES> {
    /// Returns the protocol of a connection that is opened by a request of `handshakes`.
    pub fn new(requests: &'p WebSocketRequests, checks: &'p [Check], handshakes: Rc<RefCell<Cursor<'p>>>) -> Self {
        Self {
            channel: Channel::new(requests, handshakes),
            checks,
            first_byte: None,
            in_flight: 0,
            waiting: Waiting::default(),
            keeps_payload: MATCHES || !checks.is_empty(),
            payload: Vec::new(),
        }
    }

    /// Returns the key of the request that a message responds to; `None` for a message that the server pushes.
    #[inline]
    fn answered(&mut self) -> Option<u32> {
        match &self.channel.requests.matched_by {
            Some(rule) if MATCHES => self.waiting.answered(rule, &self.payload),
            _ => (self.in_flight > 0).then_some(0),
        }
    }

    /// Returns the response that a message is.
    #[inline]
    fn response(&mut self, key: u32, kind: Kind, length: u64) -> Result<ReceivedResponse, Failure> {
        let failed_checks = if self.keeps_payload { self.judge(kind)? } else { 0 };
        Ok(ReceivedResponse {
            key,
            first_byte: self.first_byte.take(),
            response: Response { status: SWITCHED, keep_alive: true, body: length },
            failed_checks,
            redirects: 0,
            ended_here: false,
        })
    }

    /// Returns the checks that the kept payload fails, a bit each.
    #[cold]
    fn judge(&mut self, kind: Kind) -> Result<u32, Failure> {
        self.channel.messages.check_text(kind, &self.payload)?;
        let failed = self.checks.iter().enumerate().filter(|(_, check)| !check.holds_for_body(Some(&self.payload)));
        let failed = failed.fold(0, |bits, (at, _)| bits | 1 << at);
        self.payload.clear();
        Ok(failed)
    }
}

impl<const MATCHES: bool> Protocol for WebSocket<'_, MATCHES> {
    const BUFFERS_EVENTS: bool = false;
    const MULTIPLEXES: bool = MATCHES;
    const STREAMS: bool = false;
    const HAS_HANDSHAKES: bool = true;
    type ThreadState = WebSocketThread;

    fn open(&mut self, out: &mut Vec<u8>) {
        self.payload.clear();
        self.waiting.clear();
        (self.first_byte, self.in_flight) = (None, 0);
        self.channel.open(out);
    }

    #[inline]
    fn is_handshaking(&self) -> bool {
        self.channel.is_handshaking()
    }

    #[inline]
    fn start(&mut self, thread: &mut WebSocketThread, key: u32, source: &mut Source<'_>, out: &mut Vec<u8>) -> bool {
        let Self { channel, waiting, .. } = self;
        let requests = channel.requests;
        channel.write_message(thread, out, |out, start| {
            source.write(out);
            if MATCHES && let Some(rule) = &requests.matched_by {
                waiting.add(key, rule, &out[start..]);
            }
        });
        self.in_flight += 1;
        false
    }

    fn flush(&mut self, _thread: &mut WebSocketThread, _out: &mut Vec<u8>) -> Result<(), Failure> {
        if MATCHES && self.waiting.lacks_value() { Err(failures::nothing_to_match()) } else { Ok(()) }
    }

    #[inline]
    fn receive(
        &mut self,
        thread: &mut WebSocketThread,
        input: &mut [u8],
        at: Nanos,
        _in_flight: InFlight<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(usize, Option<ProtocolEvent>), Failure> {
        let mut read = 0;
        loop {
            let (payload, keeps) = (&mut self.payload, self.keeps_payload);
            let piece = |piece: &[u8]| {
                if keeps {
                    payload.extend_from_slice(piece);
                }
            };
            let (used, received) = self.channel.receive(thread, &input[read..], out, piece)?;
            read += used;
            match received {
                Received::Message(kind, length) => {
                    if let Some(key) = self.answered() {
                        self.in_flight -= 1;
                        return Ok((read, Some(ProtocolEvent::Response(self.response(key, kind, length)?))));
                    }
                    self.payload.clear();
                    self.first_byte = None;
                    thread.tally.pushed += 1;
                }
                Received::Closed => return Ok((input.len(), None)),
                Received::All => {
                    if self.channel.is_mid_message() {
                        self.first_byte = self.first_byte.or(NonZero::new(at));
                    }
                    return Ok((read, None));
                }
            }
        }
    }

    fn server_closed(&mut self) -> Result<Option<ProtocolEvent>, Failure> {
        let code = self.channel.messages.server_closed();
        match self.in_flight {
            0 => Ok(None),
            _ if code == code::ABNORMAL => Err(failures::closed_without_frame()),
            _ => Err(failures::closed_with(code)),
        }
    }

    #[inline]
    fn has_ended(&self) -> bool {
        self.channel.messages.closed.is_some()
    }

    fn discard_in_flight(&mut self) {
        self.in_flight = 0;
        self.waiting.clear();
    }

    fn cancel(&mut self, _thread: &mut WebSocketThread, key: u32, _out: &mut Vec<u8>) -> bool {
        // Its response, should it come, is that of no request.
        self.in_flight -= u32::from(self.waiting.remove(key));
        true
    }

    fn close(&mut self, thread: &mut WebSocketThread, out: &mut Vec<u8>) {
        self.channel.messages.close(thread, out);
    }

    fn add_tally(thread: &mut WebSocketThread, sample: &mut Sample) {
        thread.hand_over(sample);
    }
}
