//! HTTP/1.1 on a connection of a virtual user, one of whose requests may open a WebSocket: the server switches protocols (RFC 9110,
//! section 7.8), and what it sends from then on is a stream of messages.

use super::end_of_stream;
use super::listener::is_complete;
use super::messages::{Messages, Received};
use super::thread::WebSocketThread;
use crate::failures;
use crate::protocol::http1::Http1;
use crate::protocol::{InFlight, Protocol, ProtocolEvent, ReceivedResponse};
use crate::response::events::{EventArrival, EventPlan, EventWatch, OfferedSocket, SWITCHED, StreamKeeper, StreamPart};
use crate::response::kept::KeptResponse;
use crate::work::source::Source;
use crate::work::users::Message;
use std::num::NonZero;
use torr_gauge::collector::FirstResponse;
use torr_gauge::{Failure, Sample};
use torr_net::Nanos;
use torr_wire::Header;
use torr_wire::event_stream::Event;
use torr_wire::response::HeadCache;
use torr_wire::websocket::{Handshake, Kind};

/// HTTP/1.1 until a server has switched the connection to WebSocket.
#[derive(Debug)]
pub struct Switching<'p> {
    plan: &'p EventPlan,
    http: Http1<StreamKeeper<'p>>,
    socket: Option<Box<Socket<'p>>>,
}

/// A WebSocket that a request has opened.
#[derive(Debug)]
struct Socket<'p> {
    messages: Messages,
    watch: EventWatch<'p>,
    /// The time of the handshake's response.
    opened: NonZero<Nanos>,
    first_byte: Option<NonZero<Nanos>>,
    /// The payload of the message that is read.
    payload: Vec<u8>,
}

/// What the connections of a thread share in both protocols.
#[derive(Debug, Default)]
pub struct SwitchingThread {
    heads: HeadCache,
    sockets: WebSocketThread,
}

impl<'p> Switching<'p> {
    /// Returns the protocol of a connection whose event streams and messages are counted as the plan says.
    pub fn new(plan: &'p EventPlan) -> Self {
        Self { plan, http: Http1::inspected_by(StreamKeeper::new(plan)), socket: None }
    }

    /// Switches the connection after the response that was offered this.
    ///
    /// # Errors
    /// If the response does not complete the handshake.
    fn switch(&mut self, offered: &OfferedSocket, received: &ReceivedResponse, at: Nanos) -> Result<(), Failure> {
        let opened = NonZero::new(at).unwrap_or(NonZero::<Nanos>::MIN);
        if let Some(kept) = self.http.kept() {
            let fields = kept.fields().map(|(name, value)| Header { name, value }).collect::<Vec<_>>();
            let handshake = Handshake { key: offered.key, subprotocols: &offered.subprotocols, deflate: None };
            handshake.check(received.response.status, &fields).map_err(|error| failures::handshake(&error))?;
            kept.is_stream = true;
        }
        let (messages, watch) = (Messages::default(), EventWatch::of_messages(self.plan));
        let first_byte = received.first_byte.or(Some(opened));
        self.socket = Some(Box::new(Socket { messages, watch, opened, first_byte, payload: Vec::new() }));
        Ok(())
    }

    /// Reads messages.
    fn receive_messages(
        &mut self,
        thread: &mut WebSocketThread,
        input: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(usize, Option<ProtocolEvent>), Failure> {
        let (Some(socket), Some(kept)) = (&mut self.socket, self.http.kept()) else { return Ok((input.len(), None)) };
        let Socket { messages, watch, payload, .. } = &mut **socket;
        let mut read = 0;
        loop {
            let (used, received) = messages.receive(thread, &input[read..], out, |piece| {
                watch.body += piece.len() as u64;
                payload.extend_from_slice(piece);
            })?;
            read += used;
            match received {
                Received::Message(kind, _) => {
                    messages.check_text(kind, payload)?;
                    let name: &[u8] = if kind == Kind::Text { b"text" } else { b"binary" };
                    watch.see_message(name, payload);
                    kept.add_part(StreamPart::Event(&Event { kind: name, data: payload, id: b"", is_whole: true }));
                    payload.clear();
                    if kept.lacks_events() {
                        return Err(failures::messages_at_once());
                    }
                }
                Received::Closed => {
                    let code = messages.server_closed();
                    return match is_complete(code) {
                        true => Ok((input.len(), Some(ProtocolEvent::Response(socket.end(false))))),
                        false => Err(failures::stream_closed_with(code)),
                    };
                }
                Received::All => return Ok((read, None)),
            }
        }
    }
}

impl Socket<'_> {
    /// Returns the end of the stream.
    fn end(&mut self, ended_here: bool) -> ReceivedResponse {
        end_of_stream(self.first_byte.take(), self.watch.body, ended_here)
    }
}

impl Protocol for Switching<'_> {
    const BUFFERS_EVENTS: bool = false;
    const MULTIPLEXES: bool = false;
    const STREAMS: bool = true;
    const HAS_LAST_BYTES: bool = true;
    type ThreadState = SwitchingThread;

    fn open(&mut self, out: &mut Vec<u8>) {
        self.socket = None;
        self.http.open(out);
    }

    #[inline]
    fn start(&mut self, thread: &mut SwitchingThread, key: u32, source: &mut Source<'_>, out: &mut Vec<u8>) -> bool {
        self.http.start(&mut thread.heads, key, source, out)
    }

    #[inline]
    fn receive(
        &mut self,
        thread: &mut SwitchingThread,
        input: &mut [u8],
        at: Nanos,
        in_flight: InFlight<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(usize, Option<ProtocolEvent>), Failure> {
        if self.socket.is_some() {
            return self.receive_messages(&mut thread.sockets, input, out);
        }
        let read = self.http.receive(&mut thread.heads, input, at, in_flight, out)?;
        if let (used, Some(ProtocolEvent::Response(received))) = &read
            && received.response.status == SWITCHED
            && let Some(offered) = self.http.inspector().take_offered()
        {
            self.switch(&offered, received, at)?;
            return Ok((*used, Some(ProtocolEvent::Switched)));
        }
        Ok(read)
    }

    #[inline]
    fn has_room(&self) -> bool {
        self.http.has_room()
    }

    #[inline]
    fn has_more(&self) -> bool {
        self.http.has_more()
    }

    fn write_more(&mut self, thread: &mut SwitchingThread, out: &mut Vec<u8>) -> Result<(), Failure> {
        self.http.write_more(&mut thread.heads, out)
    }

    fn is_draining(&self) -> bool {
        self.http.is_draining()
    }

    fn server_closed(&mut self) -> Result<Option<ProtocolEvent>, Failure> {
        let Some(socket) = &mut self.socket else { return self.http.server_closed() };
        match socket.messages.closed {
            // Its end is known.
            Some(_) => Ok(None),
            None => {
                socket.messages.server_closed();
                Err(failures::stream_closed_without_frame())
            }
        }
    }

    fn discard_in_flight(&mut self) {
        self.http.discard_in_flight();
    }

    #[inline]
    fn take_arrival(&mut self, at: Nanos) -> Option<EventArrival> {
        match &mut self.socket {
            Some(socket) => socket.watch.take_arrival(0, at),
            None => self.http.take_arrival(at),
        }
    }

    fn silent_since(&self, at: Nanos) -> Option<u32> {
        match &self.socket {
            Some(_) => self.last_event(0).filter(|last| *last <= at).map(|_| 0),
            None => self.http.silent_since(at),
        }
    }

    fn last_event(&self, key: u32) -> Option<Nanos> {
        match &self.socket {
            // Before its first message, a WebSocket has been silent since it was opened.
            Some(socket) => socket.watch.last_event().or(Some(socket.opened.get())),
            None => self.http.last_event(key),
        }
    }

    fn has_event_stream(&self, thread: &mut SwitchingThread) -> bool {
        self.socket.is_none() && self.http.has_event_stream(&mut thread.heads)
    }

    fn first_response(&mut self) -> Option<FirstResponse> {
        self.http.first_response()
    }

    fn redirect_failure(&mut self) -> Option<Failure> {
        self.http.redirect_failure()
    }

    fn kept(&mut self) -> Option<&mut KeptResponse> {
        self.http.kept()
    }

    fn arriving(&mut self, key: u32) -> Option<&mut KeptResponse> {
        self.http.arriving(key)
    }

    fn leave_stream(&mut self, thread: &mut SwitchingThread, key: u32, out: &mut Vec<u8>) -> Option<ReceivedResponse> {
        match &mut self.socket {
            Some(socket) => Some(socket.end(true)),
            None => self.http.leave_stream(&mut thread.heads, key, out),
        }
    }

    fn send_message(&mut self, thread: &mut SwitchingThread, message: &Message, out: &mut Vec<u8>) {
        if let Some(socket) = self.socket.as_mut().filter(|socket| socket.messages.closed.is_none()) {
            let write = |out: &mut Vec<u8>, _| out.extend_from_slice(&message.payload);
            socket.messages.write(&mut thread.sockets, message.kind, out, write);
        }
    }

    fn close(&mut self, thread: &mut SwitchingThread, out: &mut Vec<u8>) {
        if let Some(socket) = &mut self.socket {
            socket.messages.close(&mut thread.sockets, out);
        }
    }

    fn add_tally(thread: &mut SwitchingThread, sample: &mut Sample) {
        thread.sockets.hand_over(sample);
    }
}
