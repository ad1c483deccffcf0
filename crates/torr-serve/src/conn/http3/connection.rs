//! One connection of HTTP/3: its streams, its requests and its end.

use super::outgoing::ResponseEnd;
use super::request::{Fault, RequestStream, SectionLimits};
use super::response;
use super::{FEW_REQUESTS, REQUESTS, most_of_fields};
use crate::callbacks;
use crate::client::connection_info::ConnectionInfo;
use crate::client::{Client, Tls};
use crate::conn::admission::Admission;
use crate::conn::context::WorkerContext;
use crate::conn::engine::AbortOnDrop;
use crate::conn::handover::controller::Budget;
use crate::conn::handover::exchange::Exchange;
use crate::conn::handover::frame_guard::STREAMS;
use crate::message::body_channel::{BodyReceiver, Held};
use crate::message::bounded_body::{ContentSource, ReceivedContent};
use crate::observe::notice;
use bytes::{Bytes, BytesMut};
use http::request::Parts;
use http::{Method, Request, StatusCode};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::ops::Bound;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Waker};
use std::time::Instant;
use tokio::task;
use torr_net::quic::{QuicChannel, QuicEvent, ReadEnd, StreamId};
use torr_wire::http3::{ErrorCode, Http3Error, PeerStreams, Reading, Sender, write_control_stream, write_go_away};

/// The number of bytes that are read of a stream at a time.
const READ: usize = 16 * 1024;
/// The number of requests that a client may have reset or malformed, less those that have had their response, after which the
/// connection ends, since no sound client gets there: CVE-2023-44487 and CVE-2025-8671.
const FAULTS: u32 = 1024;
/// The distance between the numbers of two streams of requests (RFC 9000, section 2.1).
const NEXT_REQUEST: u64 = 4;

/// Memory that all connections of a worker share. Its content does not matter.
#[derive(Default)]
pub(super) struct Buffers {
    chunks: Vec<Bytes>,
    strings: Vec<u8>,
}

/// The announced end of a connection.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ending {
    pub since: Instant,
    /// The first stream whose request is not taken.
    first_rejected: u64,
}

/// This side's control stream.
struct Control {
    id: StreamId,
    /// The bytes for which there was no room.
    unsent: BytesMut,
}

/// A connection.
pub(super) struct Connection {
    pub quic: QuicChannel,
    pub worker: Rc<WorkerContext>,
    /// The service of requests, once there may be some.
    pub exchange: Option<Exchange>,
    pub is_handshaking: bool,
    /// The two ends of the connection, for handlers.
    ends: ConnectionInfo,
    admission: Arc<Admission>,
    waker: Waker,
    pub begun: Instant,
    /// The time at which the connection is old.
    pub expires: Option<Instant>,
    /// The time at which the client last sent anything.
    pub heard: Instant,
    /// The time since which there is no request.
    pub idle_since: Instant,
    /// The time at which bytes of a response last found room.
    pub moved: Instant,
    /// Whether the connection waits for its turn, and whether handlers have woken it.
    pub is_queued: bool,
    pub is_woken: bool,
    peer: PeerStreams<StreamId>,
    control: Option<Control>,
    /// Boxed: a node of the map has room for eleven, and stays when the last request ends.
    pub requests: BTreeMap<u64, Box<RequestStream>>,
    /// The content that handlers have not read yet.
    unread: Arc<Held>,
    /// The response that last had its turn.
    turn: u64,
    /// The number of the next stream of a request.
    next_request: u64,
    pub ending: Option<Ending>,
    /// The deadline of a stop.
    pub deadline: Option<Instant>,
    faults: u32,
}

impl Connection {
    pub fn new(
        quic: QuicChannel,
        worker: Rc<WorkerContext>,
        local: Option<SocketAddr>,
        admission: Admission,
        waker: Waker,
        expires: Option<Instant>,
    ) -> Self {
        let now = Instant::now();
        let ends = ConnectionInfo { peer: Some(quic.peer()), local, unix_peer: None };
        Self {
            quic,
            worker,
            exchange: None,
            is_handshaking: true,
            ends,
            admission: Arc::new(admission),
            waker,
            begun: now,
            expires,
            heard: now,
            idle_since: now,
            moved: now,
            is_queued: false,
            is_woken: false,
            peer: PeerStreams::new(Sender::Client),
            control: None,
            requests: BTreeMap::new(),
            unread: Arc::default(),
            turn: 0,
            next_request: 0,
            ending: None,
            deadline: None,
            faults: 0,
        }
    }

    /// Handles what has happened on the connection, and what handlers have done if it `is_woken`.
    pub fn advance(&mut self, buffers: &mut Buffers, is_woken: bool, now: Instant) {
        self.quic.advance(now);
        let handled = self.handle_events(buffers, now);
        let handled = handled.and_then(|()| if is_woken { self.resume(buffers, now) } else { Ok(()) });
        if let Err(error) = handled {
            tracing::debug!(%error, "a connection of HTTP/3 has ended");
            self.close(error.code);
        }
    }

    /// Does what drops bytes and futures of handlers. A panic of their destructors ends this connection alone.
    pub fn guarded(&mut self, work: impl FnOnce(&mut Self)) {
        if catch_unwind(AssertUnwindSafe(|| work(self))).is_err() {
            notice::failure(format_args!("a connection of HTTP/3 ends: a destructor of a response panicked"));
            callbacks::survive("another destructor", || self.close(ErrorCode::INTERNAL_ERROR));
        }
    }

    fn handle_events(&mut self, buffers: &mut Buffers, now: Instant) -> Result<(), Http3Error> {
        let mut has_room = false;
        while let Some(event) = self.quic.next_event() {
            match event {
                QuicEvent::Connected => {
                    self.is_handshaking = false;
                    self.begin()?;
                }
                QuicEvent::Opened => {
                    while let Some(stream) = self.quic.accept() {
                        self.peer.add(stream);
                        self.read_peer(stream, buffers)?;
                    }
                }
                QuicEvent::Requested => {
                    while let Some(stream) = self.quic.accept_request() {
                        self.accept(stream, buffers, now)?;
                    }
                }
                QuicEvent::Readable(stream) if QuicChannel::is_unidirectional(stream) => {
                    self.read_peer(stream, buffers)?;
                }
                QuicEvent::Readable(stream) => self.read_request(QuicChannel::number(stream), buffers, now)?,
                QuicEvent::Writable(_) => has_room = true,
                QuicEvent::Stopped(stream, _) if self.control.as_ref().is_some_and(|control| control.id == stream) => {
                    return Err(closed_control());
                }
                QuicEvent::Stopped(stream, _) => self.give_up(stream, ErrorCode::REQUEST_CANCELLED)?,
                QuicEvent::Acknowledged(stream) => self.acknowledged(QuicChannel::number(stream), now),
                QuicEvent::Lost(_) => self.requests.clear(),
            }
        }
        if has_room {
            self.write_blocked(now);
        }
        Ok(())
    }

    /// Goes on with what there was no room for. Responses take turns: QUIC reports the stream first that had no room last, and that one
    /// would take all the room there is.
    fn write_blocked(&mut self, now: Instant) {
        self.write_control(&[]);
        let behind = self.requests.range((Bound::Excluded(self.turn), Bound::Unbounded));
        let in_turn = behind.chain(self.requests.range(..=self.turn));
        let blocked = in_turn.filter(|(_, stream)| stream.blocked_since.is_some());
        for number in blocked.map(|(number, _)| *number).collect::<Vec<_>>() {
            if self.write(number, now) > 0 {
                self.turn = number;
            }
        }
    }

    /// Sends bytes on the control stream, as soon as there is room for them.
    fn write_control(&mut self, bytes: &[u8]) {
        let Some(Control { id, unsent }) = &mut self.control else { return };
        unsent.extend_from_slice(bytes);
        let mut left = unsent.split().freeze();
        self.quic.write(*id, &mut left);
        unsent.extend_from_slice(&left);
    }

    /// Begins with requests: once the handshake is complete, or a request comes before.
    fn begin(&mut self) -> Result<(), Http3Error> {
        if self.exchange.is_some() {
            return Ok(());
        }
        let tls = self.quic.negotiated().map(|negotiated| {
            Arc::new(Tls {
                version: negotiated.version,
                cipher: negotiated.cipher,
                server_name: self.quic.server_name(),
                client_certificates: self.quic.client_certificates(),
            })
        });
        let describes = self.worker.app.shared.describes_connections();
        let connection = describes.then(|| Arc::new(self.ends));
        let client = Client { address: self.ends.peer, tls, connection, ..Client::default() };
        let budget = Budget::new(STREAMS, Arc::clone(&self.admission));
        self.exchange = Some(Exchange::of_http3(Rc::clone(&self.worker), client, budget));
        let control = self.quic.open_unidirectional().ok_or(closed_control())?;
        let mut settings = Vec::new();
        write_control_stream(most_of_fields(&self.worker.settings), &mut settings);
        self.control = Some(Control { id: control, unsent: BytesMut::new() });
        self.write_control(&settings);
        Ok(())
    }

    /// Reads what has arrived on one of the client's own streams.
    fn read_peer(&mut self, id: StreamId, buffers: &mut Buffers) -> Result<(), Http3Error> {
        if !self.peer.has(id) {
            return Ok(());
        }
        buffers.chunks.clear();
        let end = self.quic.read(id, &mut buffers.chunks);
        for chunk in buffers.chunks.drain(..) {
            // Settings that matter are for a dynamic table, and a client that goes away ends its connection.
            if self.peer.read(id, &chunk, |_| Ok(()))? == Reading::Stop {
                self.quic.stop(id, ErrorCode::STREAM_CREATION_ERROR.0);
                return Ok(());
            }
        }
        if end == ReadEnd::Open { Ok(()) } else { self.peer.end(id) }
    }

    /// Takes a stream that the client has opened for a request.
    fn accept(&mut self, id: StreamId, buffers: &mut Buffers, now: Instant) -> Result<(), Http3Error> {
        self.begin()?;
        let number = QuicChannel::number(id);
        if self.ending.is_some_and(|ending| number >= ending.first_rejected) {
            self.quic.give_up(id, ErrorCode::REQUEST_REJECTED.0);
            return Ok(());
        }
        self.next_request = self.next_request.max(number + NEXT_REQUEST);
        if number == FEW_REQUESTS * NEXT_REQUEST {
            self.quic.allow_requests(REQUESTS);
        }
        self.peer.regain();
        let stream = RequestStream::new(id, self.limits(), self.waker.clone(), Arc::clone(&self.unread), now);
        self.requests.insert(number, Box::new(stream));
        self.read_request(number, buffers, now)
    }

    fn limits(&self) -> SectionLimits {
        let settings = &self.worker.settings;
        SectionLimits { bytes: most_of_fields(settings), fields: settings.max_headers }
    }

    /// Reads what has arrived of a request, as far as its handler has room, and begins to handle it.
    fn read_request(&mut self, number: u64, buffers: &mut Buffers, now: Instant) -> Result<(), Http3Error> {
        let limits = self.limits();
        let Some(stream) = self.requests.get_mut(&number) else { return Ok(()) };
        let mut fault = Ok(());
        while fault.is_ok() && !stream.is_over() {
            stream.is_paused = !stream.has_room();
            if stream.is_paused {
                break;
            }
            buffers.chunks.clear();
            let end = self.quic.read_up_to(stream.id, READ, &mut buffers.chunks);
            let length: usize = buffers.chunks.iter().map(Bytes::len).sum();
            for chunk in buffers.chunks.drain(..) {
                if fault.is_ok() {
                    fault = stream.read(&chunk, limits, &mut buffers.strings)?;
                }
            }
            match end {
                ReadEnd::Finished if fault.is_ok() => fault = stream.end()?,
                ReadEnd::Reset(_) => {
                    let id = stream.id;
                    return self.give_up(id, ErrorCode::REQUEST_CANCELLED);
                }
                ReadEnd::Open if length < READ => break,
                _ => {}
            }
        }
        match fault {
            Ok(()) => {
                if let Some((head, content)) = stream.take_begun() {
                    self.handle(number, head, content, now);
                }
                Ok(())
            }
            Err(Fault::Malformed(wrong)) => {
                tracing::debug!(wrong, "a malformed request over HTTP/3");
                let id = stream.id;
                self.give_up(id, ErrorCode::MESSAGE_ERROR)
            }
            Err(Fault::Incomplete) => {
                let id = stream.id;
                self.give_up(id, ErrorCode::REQUEST_INCOMPLETE)
            }
            Err(Fault::TooLarge) => {
                let text = "The header section is too large\n";
                self.respond_without_handler(number, StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, text, now);
                Ok(())
            }
        }
    }

    /// Sends a response of the server's own to a request that no handler gets.
    fn respond_without_handler(&mut self, number: u64, status: StatusCode, text: &'static str, now: Instant) {
        let Some(stream) = self.requests.get_mut(&number) else { return };
        if !stream.is_over() {
            stream.stop_reading();
            self.quic.stop(stream.id, ErrorCode::NO_ERROR.0);
        }
        self.worker.meter.status(status.as_u16());
        stream.out.without_wake(|| response::send_own(status, text, &stream.out));
        self.write(number, now);
    }

    /// Calls the handler or the router of a request.
    fn handle(&mut self, number: u64, head: Parts, content: BodyReceiver, now: Instant) {
        let (Some(exchange), Some(stream)) = (&self.exchange, self.requests.get_mut(&number)) else { return };
        if head.method == Method::CONNECT {
            let text = "CONNECT is not supported over HTTP/3\n";
            return self.respond_without_handler(number, StatusCode::NOT_IMPLEMENTED, text, now);
        }
        // Others may have recorded it, and it may reach another process a second time (RFC 8470, section 5.2).
        if self.is_handshaking && !head.method.is_safe() {
            let text = "Early data: send this again after the handshake\n";
            return self.respond_without_handler(number, StatusCode::TOO_EARLY, text, now);
        }
        let to_head = head.method == Method::HEAD;
        let content = ReceivedContent::new(ContentSource::Channel(content));
        let responding = exchange.begin(Request::from_parts(head, content));
        let mut responding = Box::pin(response::send(responding, to_head, Rc::clone(&stream.out)));
        // Most responses are ready at once.
        let poll = || responding.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        if stream.out.without_wake(poll).is_pending() {
            stream.invite();
            stream.task = Some(AbortOnDrop(task::spawn_local(responding)));
        }
        let most = self.worker.settings.requests_per_connection;
        if most != 0 && exchange.served() >= most {
            self.begin_end(now);
        }
        self.write(number, now);
    }

    /// Sends what there is of a response, as far as the client takes it. Returns the number of bytes.
    fn write(&mut self, number: u64, now: Instant) -> usize {
        let Some(stream) = self.requests.get_mut(&number) else { return 0 };
        if stream.is_finished {
            return 0;
        }
        let (id, quic) = (stream.id, &mut self.quic);
        let (sent, is_blocked) = stream.out.send(|bytes| quic.write(id, bytes));
        if sent > 0 {
            self.moved = now;
        }
        stream.blocked_since = match (is_blocked, stream.blocked_since) {
            (false, _) => None,
            (true, Some(since)) if sent == 0 => Some(since),
            (true, _) => Some(now),
        };
        match stream.out.ended() {
            Some(ResponseEnd::Complete) if !is_blocked => {
                quic.finish(id);
                (stream.is_finished, stream.task) = (true, None);
                // The client need not send what nothing reads (RFC 9114, section 4.1).
                if !stream.is_over() {
                    stream.stop_reading();
                    quic.stop(id, ErrorCode::NO_ERROR.0);
                }
            }
            Some(ResponseEnd::Failed) => {
                quic.give_up(id, ErrorCode::INTERNAL_ERROR.0);
                self.remove(number, now);
            }
            _ => {}
        }
        sent
    }

    /// Goes on with all requests whose handlers have made room or bytes.
    fn resume(&mut self, buffers: &mut Buffers, now: Instant) -> Result<(), Http3Error> {
        let numbers: Vec<_> = self.requests.keys().copied().collect();
        for number in numbers {
            let Some(stream) = self.requests.get_mut(&number) else { continue };
            stream.invite();
            let (reads, writes) = (stream.is_paused, stream.out.is_pending());
            if reads {
                self.read_request(number, buffers, now)?;
            }
            if writes {
                self.write(number, now);
            }
        }
        Ok(())
    }

    /// Notes that the client has received a response.
    fn acknowledged(&mut self, number: u64, now: Instant) {
        self.faults = self.faults.saturating_sub(1);
        self.remove(number, now);
    }

    fn remove(&mut self, number: u64, now: Instant) {
        self.requests.remove(&number);
        if self.requests.is_empty() {
            self.idle_since = now;
        }
    }

    /// Gives up a request that the client does not want, or that is malformed.
    ///
    /// # Errors
    /// If the client has had too many of these.
    pub fn give_up(&mut self, id: StreamId, code: ErrorCode) -> Result<(), Http3Error> {
        if self.requests.contains_key(&QuicChannel::number(id)) {
            self.quic.give_up(id, code.0);
            self.remove(QuicChannel::number(id), Instant::now());
            self.faults += 1;
        }
        if self.faults > FAULTS {
            let what = "more than 1,024 requests were reset or malformed";
            return Err(Http3Error { code: ErrorCode::EXCESSIVE_LOAD, what });
        }
        Ok(())
    }

    /// Announces the end of the connection: it takes no further request.
    pub fn begin_end(&mut self, now: Instant) {
        if self.ending.is_some() {
            return;
        }
        self.ending = Some(Ending { since: now, first_rejected: self.next_request });
        let mut frame = Vec::new();
        write_go_away(self.next_request, &mut frame);
        self.write_control(&frame);
    }

    /// Closes the connection.
    pub fn close(&mut self, code: ErrorCode) {
        self.requests.clear();
        if !self.quic.is_closed() {
            self.quic.close(code.0);
        }
    }
}

fn closed_control() -> Http3Error {
    Http3Error { code: ErrorCode::CLOSED_CRITICAL_STREAM, what: "the client does not want the control stream" }
}
