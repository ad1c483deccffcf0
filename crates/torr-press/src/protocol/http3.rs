//! HTTP/3 on one connection of QUIC, as a client (RFC 9114): several requests at a time, each on a stream of its own.
//!
//! Datagrams in, datagrams out. `torr_net::quic` makes streams of them, `torr_wire::http3` frames and fields; `response` makes
//! responses of those, `server_streams` reads the server's own.

mod buffers;
mod encoded;
mod error;
mod happened;
mod peer;
mod request;
mod response;
mod server_streams;
mod stream;

use crate::protocol::{InFlight, Protocol, ProtocolEvent, ReceivedResponse};
use crate::response::events::{EventArrival, EventPlan};
use crate::response::failed::ParsedResponse;
use crate::response::inspect::Inspection;
use crate::response::kept::KeptResponse;
use crate::servers::target::Target;
use crate::work::source::Source;
pub use buffers::Http3Buffers;
use bytes::Bytes;
use happened::Happened;
use peer::Peer;
use std::collections::VecDeque;
use std::io;
use std::os::fd::AsFd;
use std::time::Instant;
use stream::{Stream, Streams};
use torr_gauge::{Failure, Sample};
use torr_net::quic::{QuicClient, QuicConnection, QuicError, QuicEvent, StreamId};
use torr_net::tls::NegotiatedTls;
use torr_net::{Nanos, datagrams, udp_memory};
use torr_wire::http3::{ErrorCode, Http3Error, LARGEST_SECTION, write_control_stream};

/// HTTP/3: responses arrive in any order, each on its request's stream.
#[derive(Debug)]
pub(crate) struct Http3<'p> {
    client: QuicClient,
    inspection: Option<(&'p Inspection, &'p Target)>,
    /// What is awaited of streams, where responses are such.
    event_plan: Option<&'p EventPlan>,
    /// The events of streams that have not been taken yet.
    arrivals: VecDeque<EventArrival>,
    /// The connection; `None` before the first one.
    quic: Option<QuicConnection>,
    /// Whether requests may be sent: the handshake is complete, or early data is on its way.
    is_ready: bool,
    /// Whether requests do not wait for the end of the handshake, which has not come.
    is_early: bool,
    /// The parameters of a handshake that requests have not waited for, once it is complete.
    late_handshake: Option<NegotiatedTls>,
    /// The stream of the next request, if the server allows another one.
    next: Option<StreamId>,
    streams: Streams<'p>,
    peer: Peer,
    /// What has happened and was not returned yet.
    happened: VecDeque<Happened>,
    /// The response that was returned last, if it was to be kept.
    kept: Option<Box<KeptResponse>>,
    /// Whether no further request can be started.
    is_leaving: bool,
    /// The end of the connection, if it has ended.
    end: Option<End>,
    /// The number of open streams at which the server rejected another request.
    rejected_at: usize,
    /// Whether this connection has brought a response, and how many before it have not.
    has_responded: bool,
    fruitless: u32,
    /// Whether a failed response is to be kept, and the first one that was complete.
    gathers: bool,
    failed: Option<Box<ParsedResponse>>,
    /// The packets of the connection that have been counted, and the datagrams that the kernel has dropped.
    counted: (u64, u64),
    counted_drops: u32,
}

/// The end of a connection.
#[derive(Debug)]
enum End {
    /// As the protocol has it. Requests in flight have no response.
    Clean,
    /// The connection has failed, and so have the requests in flight.
    Failed(Failure),
}

impl<'p> Http3<'p> {
    /// Returns the protocol of a connection whose responses are inspected. Redirects are not followed.
    pub fn inspected_by(client: QuicClient, inspection: &'p Inspection, target: &'p Target) -> Self {
        Self::new(client, inspection.is_needed().then_some((inspection, target)))
    }

    /// Has the protocol watch over the events of responses, where these are streams.
    #[must_use]
    pub fn watching(self, event_plan: Option<&'p EventPlan>) -> Self {
        Self { event_plan, ..self }
    }

    fn new(client: QuicClient, inspection: Option<(&'p Inspection, &'p Target)>) -> Self {
        Self {
            client,
            inspection,
            event_plan: None,
            arrivals: VecDeque::new(),
            quic: None,
            is_ready: false,
            is_early: false,
            late_handshake: None,
            next: None,
            streams: Streams::default(),
            peer: Peer::default(),
            happened: VecDeque::new(),
            kept: None,
            is_leaving: false,
            end: None,
            rejected_at: usize::MAX,
            has_responded: true,
            fruitless: 0,
            gathers: false,
            failed: None,
            counted: (0, 0),
            counted_drops: 0,
        }
    }

    /// Handles all events of the connection.
    fn handle_events(&mut self, buffers: &mut Http3Buffers, at: Nanos) -> Result<(), Http3Error> {
        while let Some(event) = self.quic.as_mut().and_then(|quic| quic.next_event()) {
            match event {
                QuicEvent::Connected => self.connected(),
                QuicEvent::Opened => {
                    while let Some(stream) = self.quic.as_mut().and_then(|quic| quic.accept()) {
                        self.peer.add(stream);
                        self.read_peer(stream, buffers)?;
                    }
                }
                QuicEvent::Readable(stream) if self.peer.has(stream) => self.read_peer(stream, buffers)?,
                QuicEvent::Readable(stream) => self.read_response(stream, buffers, at)?,
                QuicEvent::Writable(stream) => self.go_on_uploading(stream),
                QuicEvent::Stopped(stream, _) => self.streams.stop_upload(stream),
                // A server may open no such stream, and what it has received needs no further care.
                QuicEvent::Requested | QuicEvent::Acknowledged(_) => {}
                QuicEvent::Lost(error) => self.lost(error),
            }
        }
        if self.is_ready && self.next.is_none() {
            self.next = self.quic.as_mut().and_then(|quic| quic.open());
        }
        Ok(())
    }

    /// Handles the end of the handshake.
    fn connected(&mut self) {
        if std::mem::take(&mut self.is_early)
            && let Some(quic) = &self.quic
        {
            self.late_handshake = quic.negotiated();
            if quic.early_data_is_accepted() {
                return;
            }
            // To the server nothing has happened so far.
            self.next = None;
            for stream in self.streams.split_from(0) {
                self.happened.push_back(ProtocolEvent::Unprocessed(stream.key).into());
            }
        }
        self.begin();
    }

    /// Opens this side's control stream.
    fn begin(&mut self) {
        self.is_ready = true;
        let Some(quic) = &mut self.quic else { return };
        let mut settings = Vec::new();
        write_control_stream(LARGEST_SECTION, &mut settings);
        match quic.open_unidirectional() {
            // What does not fit the windows of a server is never sent: the settings are a few bytes.
            Some(control) => drop(quic.write(control, &mut Bytes::from(settings))),
            None => self.end = Some(End::Failed(error::no_control_stream())),
        }
    }

    fn lost(&mut self, error: QuicError) {
        self.is_leaving = true;
        let is_clean = match &error {
            QuicError::Application(code) => *code == ErrorCode::NO_ERROR.0,
            // Without a request in flight this is the server's right.
            QuicError::TimedOut | QuicError::Reset => self.streams.is_empty(),
            _ => false,
        };
        let is_complete = self.is_ready && !self.is_early;
        self.end = Some(match is_clean && is_complete {
            true => End::Clean,
            false => End::Failed(error::lost(error, is_complete)),
        });
    }

    /// Ends a connection whose server violates the protocol.
    #[cold]
    fn break_off(&mut self, error: Http3Error, buffers: &mut Http3Buffers, out: &mut Vec<u8>) -> Failure {
        if let Some(quic) = &mut self.quic {
            quic.close(error.code.0);
            quic.write_datagrams(&mut buffers.room, out);
        }
        error::malformed(error.what)
    }
}

impl Protocol for Http3<'_> {
    const BUFFERS_EVENTS: bool = true;
    const MULTIPLEXES: bool = true;
    const STREAMS: bool = true;
    const DATAGRAMS: bool = true;
    const HAS_LAST_BYTES: bool = true;
    const ROOM: usize = datagrams::ROOM;
    const OVERHEAD: usize = datagrams::HEADER;
    type ThreadState = Http3Buffers;

    fn open(&mut self, out: &mut Vec<u8>) {
        let fruitless = if self.has_responded { 0 } else { self.fruitless + 1 };
        let fresh = Self::new(self.client.clone(), self.inspection).watching(self.event_plan);
        *self = Self { fruitless, has_responded: false, ..fresh };
        match self.client.connect() {
            Ok(quic) => {
                self.is_early = quic.has_early_data();
                self.quic = Some(quic);
                if self.is_early {
                    self.begin();
                }
                if let Some(quic) = &mut self.quic {
                    self.next = if self.is_early { quic.open() } else { None };
                    quic.write_datagrams(&mut Vec::new(), out);
                }
            }
            Err(error) => self.end = Some(End::Failed(crate::failures::tls(error))),
        }
    }

    fn is_handshaking(&self) -> bool {
        !self.is_ready
    }

    fn secured(&self) -> Option<NegotiatedTls> {
        self.quic.as_ref()?.negotiated()
    }

    #[inline]
    fn late_handshake(&mut self) -> Option<NegotiatedTls> {
        self.late_handshake.take()
    }

    #[inline]
    fn has_room(&self) -> bool {
        !self.is_leaving && self.next.is_some() && self.streams.len() < self.rejected_at
    }

    fn start(&mut self, buffers: &mut Http3Buffers, key: u32, source: &mut Source<'_>, _out: &mut Vec<u8>) -> bool {
        self.start_request(buffers, key, source)
    }

    fn flush(&mut self, buffers: &mut Http3Buffers, out: &mut Vec<u8>) -> Result<(), Failure> {
        if let Some(quic) = &mut self.quic {
            quic.write_datagrams(&mut buffers.room, out);
        }
        Ok(())
    }

    fn receive(
        &mut self,
        buffers: &mut Http3Buffers,
        input: &mut [u8],
        at: Nanos,
        in_flight: InFlight<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(usize, Option<ProtocolEvent>), Failure> {
        self.gathers = in_flight.failed_response.is_some();
        if !input.is_empty()
            && let Some(quic) = &mut self.quic
        {
            quic.receive(input, &mut buffers.room);
        }
        if self.happened.is_empty() && self.end.is_none() {
            self.handle_events(buffers, at).map_err(|error| self.break_off(error, buffers, out))?;
        }
        if let (Some(gather), Some(failed)) = (in_flight.failed_response, self.failed.take()) {
            gather.set(*failed);
        }
        if let Some(Happened { event, kept }) = self.happened.pop_front() {
            self.kept = kept;
            return Ok((input.len(), Some(event)));
        }
        match &self.end {
            Some(End::Failed(failure)) => Err(failure.clone()),
            _ => Ok((input.len(), None)),
        }
    }

    fn server_closed(&mut self) -> Result<Option<ProtocolEvent>, Failure> {
        match self.end.take() {
            Some(End::Failed(failure)) => Err(failure),
            _ => Ok(None),
        }
    }

    fn has_ended(&self) -> bool {
        self.end.is_some()
    }

    fn is_draining(&self) -> bool {
        self.is_leaving
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

    fn has_event_stream(&self, _thread: &mut Http3Buffers) -> bool {
        self.event_plan.is_none() && self.streams.iter().any(|stream| stream.is_event_stream)
    }

    fn kept(&mut self) -> Option<&mut KeptResponse> {
        self.kept.as_deref_mut()
    }

    fn arriving(&mut self, key: u32) -> Option<&mut KeptResponse> {
        if let Some(at) = self.streams.find_key(key) {
            return self.streams.at(at).kept.as_deref_mut();
        }
        // It has come to its end, which may not have been returned yet.
        match self.happened.iter_mut().find(|happened| happened.completes(key)) {
            Some(happened) => happened.kept.as_deref_mut(),
            None => self.kept.as_deref_mut(),
        }
    }

    fn leave_stream(&mut self, buffers: &mut Http3Buffers, key: u32, out: &mut Vec<u8>) -> Option<ReceivedResponse> {
        let at = self.streams.find_key(key)?;
        let (response, kept) = self.end_here(at)?;
        self.kept = kept;
        if let Some(quic) = &mut self.quic {
            quic.write_datagrams(&mut buffers.room, out);
        }
        Some(response)
    }

    fn discard_in_flight(&mut self) {
        self.streams.clear();
    }

    fn close(&mut self, buffers: &mut Http3Buffers, out: &mut Vec<u8>) {
        if let Some(quic) = &mut self.quic {
            quic.close(ErrorCode::NO_ERROR.0);
            quic.write_datagrams(&mut buffers.room, out);
        }
    }

    fn cancel(&mut self, buffers: &mut Http3Buffers, key: u32, out: &mut Vec<u8>) -> bool {
        let Some(at) = self.streams.find_key(key) else { return false };
        // A connection that no further request can use is better closed.
        if self.is_leaving && self.streams.len() == 1 {
            return false;
        }
        self.give_up(at, ErrorCode::REQUEST_CANCELLED);
        self.flush(buffers, out).is_ok()
    }

    fn next_timeout(&mut self) -> Option<Instant> {
        match self.end {
            Some(_) => None,
            None => self.quic.as_mut()?.timeout(),
        }
    }

    fn time_out(&mut self) {
        if let Some(quic) = &mut self.quic {
            quic.time_out();
        }
    }

    fn settle(&mut self, buffers: &mut Http3Buffers, socket: impl AsFd) {
        if let Some(quic) = &self.quic {
            let packets = quic.packets();
            buffers.count_packets(self.counted, packets);
            self.counted = packets;
        }
        if let Some(memory) = udp_memory(socket) {
            buffers.count_drops(memory.dropped.wrapping_sub(self.counted_drops), memory.receive_buffer);
            self.counted_drops = memory.dropped;
        }
    }

    fn send(buffers: &mut Http3Buffers, socket: impl AsFd, bytes: &[u8]) -> io::Result<usize> {
        buffers.send(socket, bytes)
    }

    fn recv(buffers: &mut Http3Buffers, socket: impl AsFd, room: &mut [u8]) -> io::Result<Option<usize>> {
        datagrams::recv(socket, room, &mut buffers.counts)
    }

    #[inline]
    fn add_tally(buffers: &mut Http3Buffers, sample: &mut Sample) {
        buffers.add_tally(sample);
    }
}
