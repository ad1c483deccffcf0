//! A WebSocket connection on which the client listens: the messages that the server pushes are the events of a stream.

use super::channel::Channel;
use super::end_of_stream;
use super::messages::Received;
use super::thread::WebSocketThread;
use crate::failures;
use crate::protocol::{InFlight, Protocol, ProtocolEvent};
use crate::request::{Cursor, WebSocketRequests};
use crate::response::events::{EventArrival, EventPlan, EventWatch};
use crate::work::source::Source;
use std::cell::RefCell;
use std::num::NonZero;
use std::rc::Rc;
use torr_gauge::{Failure, Sample};
use torr_net::Nanos;
use torr_wire::websocket::{Kind, code};

/// The codes with which a server ends a stream as it is meant to; 1005 stands for a frame without a code.
const COMPLETE: [u16; 3] = [code::NORMAL, code::GOING_AWAY, code::NONE];

/// Whether a server that closes with this code ends a stream as it is meant to.
pub(super) fn is_complete(code: u16) -> bool {
    COMPLETE.contains(&code)
}

/// WebSocket as a stream: a request is a connection, its response all that the server sends on it.
#[derive(Debug)]
pub struct Listener<'p> {
    channel: Channel<'p>,
    watch: EventWatch<'p>,
    /// The time of the response to the handshake's request, with which the stream begins.
    first_byte: Option<NonZero<Nanos>>,
    /// The payload of the latest message, where the plan has a rule about it.
    payload: Vec<u8>,
}

impl<'p> Listener<'p> {
    /// Returns the protocol of a connection that is opened by a request of `handshakes`.
    pub fn new(requests: &'p WebSocketRequests, plan: &'p EventPlan, handshakes: Rc<RefCell<Cursor<'p>>>) -> Self {
        Self {
            channel: Channel::new(requests, handshakes),
            watch: EventWatch::of_messages(plan),
            first_byte: None,
            payload: Vec::new(),
        }
    }

    /// Returns the end of the stream.
    fn end(&mut self, ended_here: bool) -> ProtocolEvent {
        ProtocolEvent::Response(end_of_stream(self.first_byte.take(), self.watch.body, ended_here))
    }
}

impl Protocol for Listener<'_> {
    const BUFFERS_EVENTS: bool = false;
    const MULTIPLEXES: bool = false;
    const STREAMS: bool = true;
    const HAS_HANDSHAKES: bool = true;
    type ThreadState = WebSocketThread;

    fn open(&mut self, out: &mut Vec<u8>) {
        self.watch.begin();
        self.payload.clear();
        self.first_byte = None;
        self.channel.open(out);
    }

    #[inline]
    fn is_handshaking(&self) -> bool {
        self.channel.is_handshaking()
    }

    fn start(&mut self, thread: &mut WebSocketThread, _key: u32, source: &mut Source<'_>, out: &mut Vec<u8>) -> bool {
        if self.channel.requests.sends {
            self.channel.write_message(thread, out, |out, _| {
                source.write(out);
            });
        }
        false
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
        let (mut read, keeps) = (0, self.watch.wants_data());
        loop {
            let Self { channel, watch, payload, .. } = self;
            let piece = |piece: &[u8]| {
                watch.body += piece.len() as u64;
                if keeps {
                    payload.extend_from_slice(piece);
                }
            };
            let (used, received) = channel.receive(thread, &input[read..], out, piece)?;
            read += used;
            if received != Received::Closed && !channel.is_handshaking() {
                self.first_byte = self.first_byte.or(NonZero::new(at));
            }
            match received {
                Received::Message(kind, _) => {
                    let name: &[u8] = if kind == Kind::Text { b"text" } else { b"binary" };
                    if keeps {
                        self.channel.messages.check_text(kind, &self.payload)?;
                    }
                    self.watch.see_message(name, &self.payload);
                    self.payload.clear();
                    if self.watch.is_over() {
                        // What follows is not wanted.
                        return Ok((input.len(), Some(self.end(true))));
                    }
                }
                Received::Closed => {
                    return match self.channel.messages.server_closed() {
                        code if is_complete(code) => Ok((input.len(), Some(self.end(false)))),
                        code => Err(failures::stream_closed_with(code)),
                    };
                }
                Received::All => return Ok((read, None)),
            }
        }
    }

    fn server_closed(&mut self) -> Result<Option<ProtocolEvent>, Failure> {
        self.channel.messages.server_closed();
        Err(failures::stream_closed_without_frame())
    }

    #[inline]
    fn take_arrival(&mut self, at: Nanos) -> Option<EventArrival> {
        self.watch.take_arrival(0, at)
    }

    fn silent_since(&self, at: Nanos) -> Option<u32> {
        self.watch.last_event().filter(|last| *last <= at).map(|_| 0)
    }

    fn last_event(&self, _key: u32) -> Option<Nanos> {
        self.watch.last_event()
    }

    fn close(&mut self, thread: &mut WebSocketThread, out: &mut Vec<u8>) {
        self.channel.messages.close(thread, out);
    }

    fn add_tally(thread: &mut WebSocketThread, sample: &mut Sample) {
        thread.hand_over(sample);
    }
}
