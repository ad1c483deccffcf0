//! HTTP/2 on one connection, as a client (RFC 9113): several requests at a time, each on a stream of its own.
//!
//! Bytes in, bytes out. `receive` parses frames, `response` makes responses of them, `flow_control` keeps to the server's
//! windows, `hpack` encodes and decodes header sections.

mod error;
mod flow_control;
mod frame;
mod header_block;
pub(crate) mod hpack;
pub(super) mod packed;
mod peer;
mod receive;
mod response;
mod stream;
#[cfg(test)]
mod tests;

use crate::failures;
use crate::protocol::{InFlight, Protocol, ProtocolEvent, ReceivedResponse};
use crate::response::events::{EventArrival, EventPlan, EventWatch};
use crate::response::failed::ParsedResponse;
use crate::response::grpc::{GrpcMethod, GrpcResponse};
use crate::response::inspect::{Inspection, Inspector};
use crate::response::kept::KeptResponse;
use crate::servers::target::Target;
use crate::work::source::Source;
use error::Code;
pub use error::ERROR_NAMES;
use frame::{kind, setting};
use header_block::HeaderBlock;
use hpack::{Decoder, Encoder, Seeding};
use packed::Packed;
use peer::Peer;
use std::collections::VecDeque;
use stream::{Stream, Streams};
use torr_gauge::Failure;
use torr_net::Nanos;
use torr_wire::request::HTTP2_PREFACE;

/// The bytes of content that are written at a time. What is beyond waits for them to be sent, so that memory does not grow
/// with the windows.
const MOST_AT_ONCE: usize = 256 * 1024;

/// The receive window of a connection and of each stream, in bytes: so large that no server ever waits
/// for it, as h2load has it.
const WINDOW: u32 = 1 << 30;
/// The last number that a stream can have.
const LAST_STREAM: u32 = i32::MAX as u32;
/// The number of replies (to PING and SETTINGS) that a server may demand between two responses.
const MOST_CHATTER: u32 = 10_000;

/// HTTP/2: responses arrive in any order, each on its request's stream.
#[derive(Debug)]
pub struct Http2<'p> {
    inspection: Option<(&'p Inspection, &'p Target)>,
    /// What is awaited of streams, where responses are such.
    event_plan: Option<&'p EventPlan>,
    /// The events of streams that have not been taken yet.
    arrivals: VecDeque<EventArrival>,
    /// What is expected of responses where requests are calls of gRPC.
    method: Option<GrpcMethod>,
    /// Whether fields of responses are looked at: responses are inspected, event streams, or those of calls.
    looks: bool,
    streams: Streams<'p>,
    next_stream: u32,
    peer: Peer,
    encoder: Encoder,
    seeding: Seeding,
    decoder: Decoder,
    /// The window of the server for the connection.
    window: i64,
    /// The bytes that arrived since the last WINDOW_UPDATE of the connection.
    received: u32,
    /// The number of streams whose content is not sent completely.
    uploads: usize,
    /// The bytes of content that may still be written before what was written is sent.
    upload_room: usize,
    /// Whether content waits for what was written before it to be sent, and not for a window.
    is_upload_paused: bool,
    /// The part of an incomplete frame.
    partial: Vec<u8>,
    /// An incomplete header block.
    block: Option<Box<HeaderBlock>>,
    /// Events that have not been returned yet.
    events: VecDeque<ProtocolEvent>,
    /// Whether no further stream can be opened.
    is_leaving: bool,
    /// The last stream and the error code of the latest GOAWAY.
    gone_away: Option<(u32, Code)>,
    /// The latest stream that was cancelled: frames for streams up to it are ignored.
    cancelled_to: u32,
    /// The number of open streams at which the server refused another one.
    refused_at: usize,
    /// The replies that the server has demanded since the last response.
    chatter: u32,
    /// Whether this connection has brought a response, and how many before it have not.
    has_responded: bool,
    fruitless: u32,
    /// Whether a failed response is to be kept, and the last one that was complete.
    gathers: bool,
    failed: Option<Box<ParsedResponse>>,
    /// The response that was complete last, if it was to be kept.
    kept: Option<Box<KeptResponse>>,
}

impl<'p> Http2<'p> {
    /// Returns the protocol of a connection whose responses are inspected. Redirects are not followed.
    pub fn inspected_by(inspection: &'p Inspection, target: &'p Target) -> Self {
        Self::new(inspection.is_needed().then_some((inspection, target)), None)
    }

    /// Returns the protocol of a connection whose responses are judged by virtual users only.
    pub(super) fn uninspected() -> Self {
        Self::new(None, None)
    }

    /// Has the protocol watch over the events of responses, where these are streams.
    #[must_use]
    pub(crate) fn watching(self, event_plan: Option<&'p EventPlan>) -> Self {
        let demands_streams = event_plan.is_some_and(|plan| plan.demands_streams);
        Self { event_plan, looks: self.looks || demands_streams, ..self }
    }

    /// Reads responses as those of calls of a method of gRPC, if there is one.
    #[must_use]
    pub(crate) fn calling(self, method: Option<GrpcMethod>) -> Self {
        Self { method, looks: self.looks || method.is_some(), ..self }
    }

    fn new(inspection: Option<(&'p Inspection, &'p Target)>, event_plan: Option<&'p EventPlan>) -> Self {
        Self {
            inspection,
            event_plan,
            arrivals: VecDeque::new(),
            method: None,
            looks: inspection.is_some() || event_plan.is_some_and(|plan| plan.demands_streams),
            streams: Streams::default(),
            next_stream: 1,
            peer: Peer::default(),
            encoder: Encoder::default(),
            seeding: Seeding::default(),
            decoder: Decoder::default(),
            window: 65_535,
            received: 0,
            uploads: 0,
            upload_room: MOST_AT_ONCE,
            is_upload_paused: false,
            partial: Vec::new(),
            block: None,
            events: VecDeque::new(),
            is_leaving: false,
            gone_away: None,
            cancelled_to: 0,
            refused_at: usize::MAX,
            chatter: 0,
            has_responded: true,
            fruitless: 0,
            gathers: false,
            failed: None,
            kept: None,
        }
    }

    /// The failure of a connection without TLS to a server that speaks it, if these are the server's first bytes behind
    /// those that are kept.
    #[cold]
    fn plain_to_tls(&self, input: &[u8]) -> Option<Failure> {
        let first_bytes = if self.partial.is_empty() { input } else { &self.partial };
        failures::plain_to_tls(first_bytes).filter(|_| !self.peer.is_known)
    }
}

impl Protocol for Http2<'_> {
    const BUFFERS_EVENTS: bool = true;
    const MULTIPLEXES: bool = true;
    const STREAMS: bool = true;
    type ThreadState = Packed;

    fn open(&mut self, out: &mut Vec<u8>) {
        let fruitless = if self.has_responded { 0 } else { self.fruitless + 1 };
        let mut decoder = std::mem::take(&mut self.decoder);
        decoder.reset();
        let fresh = Self::new(self.inspection, self.event_plan).calling(self.method);
        *self = Self { decoder, fruitless, has_responded: false, ..fresh };
        out.extend_from_slice(HTTP2_PREFACE);
        let settings = [
            (setting::ENABLE_PUSH, 0),
            (setting::INITIAL_WINDOW_SIZE, WINDOW),
            (setting::MAX_HEADER_LIST_SIZE, hpack::MOST as u32),
        ];
        frame::settings(&settings, out);
        frame::number(kind::WINDOW_UPDATE, 0, WINDOW - 65_535, out);
    }

    #[inline]
    fn has_room(&self) -> bool {
        let in_flight = self.streams.len();
        !self.is_leaving && in_flight < self.peer.streams as usize && in_flight < self.refused_at
    }

    #[inline]
    fn start(&mut self, shared: &mut Packed, key: u32, source: &mut Source<'_>, out: &mut Vec<u8>) -> bool {
        let (id, most) = (self.next_stream, self.peer.frame);
        let write = |block: &[u8], is_all: bool| frame::headers(id, block, is_all, most, out);
        let begun = shared.pack(source, &mut self.encoder, self.seeding, write);
        self.seeding = self.seeding.next();
        self.next_stream += 2;
        self.is_leaving |= self.next_stream > LAST_STREAM;
        let is_head = begun.info.is_head;
        let method = self.method.or(begun.info.is_call.then_some(GrpcMethod { returns_stream: false }));
        self.streams.push(Stream {
            id,
            key,
            is_head,
            status: None,
            first_byte: None,
            length: None,
            body: 0,
            received: 0,
            window: self.peer.window,
            upload: None,
            failed: None,
            kept: KeptResponse::wanted(&begun.info),
            call: method.map(|method| Box::new(GrpcResponse::of(method))),
            inspector: self.inspection.map(|(what, target)| Box::new(Inspector::new(what, target))),
            is_event_stream: false,
            events: self.event_plan.filter(|plan| plan.demands_streams).map(|plan| {
                Box::new(if self.method.is_some() { EventWatch::of_messages(plan) } else { EventWatch::new(plan) })
            }),
        });
        if !begun.body.is_empty() {
            self.begin_upload(begun.body, out);
        }
        is_head
    }

    fn receive(
        &mut self,
        _shared: &mut Packed,
        input: &mut [u8],
        at: Nanos,
        in_flight: InFlight<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(usize, Option<ProtocolEvent>), Failure> {
        if let Some(event) = self.events.pop_front() {
            return Ok((0, Some(event)));
        }
        self.gathers = in_flight.failed_response.is_some();
        let read = self.read(input, at, out).map_err(|broken| {
            let mut reason = [0; 8];
            reason[4..].copy_from_slice(&broken.code.0.to_be_bytes());
            frame::whole(kind::GOAWAY, 0, &reason, out);
            self.plain_to_tls(input).unwrap_or_else(|| broken.failure())
        });
        if let (Some(gather), Some(failed)) = (in_flight.failed_response, self.failed.take()) {
            gather.set(*failed);
        }
        read
    }

    fn server_closed(&mut self) -> Result<Option<ProtocolEvent>, Failure> {
        match self.gone_away {
            Some((_, code)) if code != Code::NO_ERROR => Err(error::gone_away(code)),
            _ if !self.peer.is_known => Err(self.plain_to_tls(&[]).unwrap_or_else(error::speechless)),
            _ => Ok(None),
        }
    }

    fn is_draining(&self) -> bool {
        self.is_leaving
    }

    #[inline]
    fn has_more(&self) -> bool {
        self.is_upload_paused
    }

    fn write_more(&mut self, _shared: &mut Packed, out: &mut Vec<u8>) -> Result<(), Failure> {
        self.is_upload_paused = false;
        self.go_on_uploading(out);
        Ok(())
    }

    #[inline]
    fn take_arrival(&mut self, _at: Nanos) -> Option<EventArrival> {
        self.arrivals.pop_front()
    }

    fn silent_since(&self, at: Nanos) -> Option<u32> {
        let last = |stream: &Stream<'_>| stream.events.as_ref().and_then(|events| events.last_event());
        self.streams.iter().find(|stream| last(stream).is_some_and(|last| last <= at)).map(|stream| stream.key)
    }

    fn last_event(&self, key: u32) -> Option<Nanos> {
        let stream = self.streams.iter().find(|stream| stream.key == key)?;
        stream.events.as_ref()?.last_event()
    }

    fn has_event_stream(&self, _thread: &mut Packed) -> bool {
        self.event_plan.is_none() && self.streams.iter().any(|stream| stream.is_event_stream)
    }

    fn kept(&mut self) -> Option<&mut KeptResponse> {
        self.kept.as_deref_mut()
    }

    fn arriving(&mut self, key: u32) -> Option<&mut KeptResponse> {
        match self.streams.find_key(key) {
            Some(at) => self.streams.at(at).kept.as_deref_mut(),
            // It has just come to its end.
            None => self.kept.as_deref_mut(),
        }
    }

    fn leave_stream(&mut self, _shared: &mut Packed, key: u32, out: &mut Vec<u8>) -> Option<ReceivedResponse> {
        let at = self.streams.find_key(key)?;
        self.end_here(at, out)
    }

    fn cancel(&mut self, _shared: &mut Packed, key: u32, out: &mut Vec<u8>) -> bool {
        let Some(at) = self.streams.find_key(key) else { return false };
        // A connection that no further request can use is better closed.
        if self.is_leaving && self.streams.len() == 1 {
            return false;
        }
        self.give_up(at, Code::CANCEL, out);
        true
    }
}
