//! One client's connection: its socket, its protocols, and its state.

use super::task::AbortOnDrop;
use crate::conn::admission::Admission;
use crate::conn::context::EngineContext;
use crate::conn::http1::{Handled, Http1, LongBody, Part, PendingResponse};
use crate::conn::next::{HyperProtocol, Next};
use crate::conn::transport::{Peer, Received, Transport};
use crate::message::response::Response;
use crate::message::stream::BodyFailed;
use crate::observe::metrics_table::Count;
use std::io;
use std::os::fd::OwnedFd;
use std::task::{Poll, Waker};
use std::time::Duration;
use torr_net::{Interest, Nanos, socket, tcp_info};

pub(super) struct Connection<T> {
    /// Released before the socket is closed, so that the client may connect again as soon as it sees the end.
    pub admission: Admission,
    pub socket: OwnedFd,
    pub transport: T,
    pub http: Http1,
    pub state: State,
    /// The time at which the state began, or made progress: time-outs count from here.
    pub since: Nanos,
    /// The time from which on the connection is to end, `Nanos::MAX` if there is none.
    pub expires: Nanos,
    /// Output that the socket had no room for.
    pub unsent: Vec<u8>,
    /// The poller's interest in the socket. `None` before the first receive: many connections have ended after it.
    pub interest: Option<Interest>,
    /// Bytes or the end may be in the socket of which no event will tell.
    pub unread: bool,
    /// Whether an event has reported that the client has ended its side.
    pub ended: bool,
    /// The number of bytes that the client's system had acknowledged when that was last looked at, and the time of the look.
    acknowledged: Option<u64>,
    looked: Nanos,
}

/// The state of a connection.
pub(super) enum State {
    /// Requests are received, and responses sent at once.
    Reading,
    /// A handler makes a response. `arrived` is the time of the request; the task waits for the handler, and is there as soon as
    /// it has been started.
    Handling { pending: PendingResponse, arrived: Nanos, task: Option<AbortOnDrop> },
    /// The socket takes what is unsent, and then the rest of `body`.
    Writing { body: Option<LongBody>, then: Next },
    /// The application makes the next part of a body, for which a task waits.
    Producing { is_endless: bool, then: Next, task: Option<AbortOnDrop> },
    /// The last response is sent. What the client still sends is read and discarded: to close at once would make the kernel
    /// reset the connection, and the client might never read the response.
    Lingering { began: Nanos },
}

/// Memory that connections share while they are worked on.
#[derive(Default)]
pub(super) struct Buffers {
    /// The bytes to send.
    pub out: Vec<u8>,
    /// The bytes that have been decrypted.
    pub received: Vec<u8>,
    /// The bytes to encrypt.
    pub plain: Vec<u8>,
}

impl State {
    #[inline]
    pub fn is_reading(&self) -> bool {
        matches!(self, Self::Reading)
    }

    pub fn is_handling(&self) -> bool {
        matches!(self, Self::Handling { .. })
    }

    /// Whether a response of unknown length is sent, which may have no end.
    pub fn is_endless(&self) -> bool {
        match self {
            Self::Writing { body, .. } => body.as_ref().is_some_and(LongBody::is_endless),
            Self::Producing { is_endless, .. } => *is_endless,
            _ => false,
        }
    }

    /// Returns the state's name, for the log.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Reading => "reading",
            Self::Handling { .. } => "handling",
            Self::Writing { .. } => "writing",
            Self::Producing { .. } => "producing",
            Self::Lingering { .. } => "lingering",
        }
    }
}

impl<T: Transport> Connection<T> {
    /// Returns a connection that reads requests. `unread` tells whether something may have arrived of which no event will tell.
    pub fn new(socket: OwnedFd, admission: Admission, transport: T, http: Http1, now: Nanos, unread: bool) -> Self {
        let (state, unsent) = (State::Reading, Vec::new());
        let (expires, interest, ended, acknowledged, looked) = (Nanos::MAX, None, false, None, 0);
        Self {
            admission,
            socket,
            transport,
            http,
            state,
            since: now,
            expires,
            unsent,
            interest,
            unread,
            ended,
            acknowledged,
            looked,
        }
    }

    /// Returns whether the client has taken anything since the last look, unless that is less than `pause` ago.
    pub fn look(&mut self, now: Nanos, pause: Nanos) -> bool {
        if now.saturating_sub(self.looked) < pause {
            return false;
        }
        let acknowledged = tcp_info(&self.socket).and_then(|info| info.acknowledged);
        self.looked = now;
        std::mem::replace(&mut self.acknowledged, acknowledged) != acknowledged
    }

    /// Whether nothing of a request has arrived, and nothing of a response is left to send.
    pub fn is_idle(&self) -> bool {
        let is_quiet = self.state.is_reading() && self.unsent.is_empty() && !self.unread;
        is_quiet && self.http.part() == Part::Nothing && !self.transport.is_establishing()
    }

    /// Enters a state, and returns the former one.
    #[inline]
    pub fn enter(&mut self, state: State, now: Nanos) -> State {
        self.since = now;
        std::mem::replace(&mut self.state, state)
    }

    /// Whether a response is of no use once the client has ended its side: no content is expected any more either.
    #[inline]
    pub fn is_droppable(&self, pending: &PendingResponse) -> bool {
        pending.is_droppable && !self.http.has_upload_room()
    }

    /// Returns what to do now that the socket may be readable; `None` if something else comes first.
    #[inline]
    pub fn readable(&self) -> Option<Next> {
        match &self.state {
            // Requests that have arrived are handled first: else a client that sends fast would fill the memory, and a client
            // that has ended its side would be gone before it is sent its responses.
            State::Reading if self.http.has_backlog() => Some(Next::Continue),
            State::Reading if !self.http.has_backpressure() => Some(Next::Receive),
            State::Lingering { .. } => Some(Next::Receive),
            _ if self.http.has_upload_room() => Some(Next::Receive),
            // The client is gone, and takes no response.
            State::Handling { pending, .. } if self.ended && pending.is_droppable => Some(Next::Drop),
            State::Producing { .. } if self.ended => Some(Next::Drop),
            _ => None,
        }
    }

    /// Handles what has arrived: `bytes`, or the end of the client's side. `wake` makes a waker for the connection, which calls
    /// [`Connection::invite`].
    #[inline]
    pub fn receive(
        &mut self,
        bytes: &mut [u8],
        is_end: bool,
        now: Nanos,
        cx: &EngineContext,
        wake: impl Fn() -> Waker,
        buffers: &mut Buffers,
    ) -> Handled {
        match self.state {
            _ if is_end => return self.receive_end(),
            State::Lingering { .. } => {
                // The bytes are discarded.
                self.since = now;
                return Handled::Done(Next::Receive);
            }
            _ => {}
        }
        let Buffers { out, received, plain } = buffers;
        let peer = Peer { client: self.http.client_mut(), admission: &mut self.admission };
        let bytes = match self.transport.receive(bytes, peer, received, out) {
            Ok(Received { bytes, is_http2: false }) => bytes,
            Ok(Received { bytes, is_http2: true }) => {
                self.http.keep(bytes);
                return Handled::Done(Next::HandOver(HyperProtocol::Http2));
            }
            Err(next) => {
                if next == Next::Drop {
                    cx.worker.meter.add(Count::TurnedAway, 1);
                }
                return Handled::Done(next);
            }
        };
        match self.state {
            State::Reading => self.receive_requests(bytes, now, cx, wake, plain, out),
            _ => self.receive_content(bytes, now, cx, plain, out),
        }
    }

    #[inline]
    fn receive_requests(
        &mut self,
        bytes: &[u8],
        now: Nanos,
        cx: &EngineContext,
        wake: impl Fn() -> Waker,
        plain: &mut Vec<u8>,
        out: &mut Vec<u8>,
    ) -> Handled {
        let (part, has_ended) = (self.http.part(), self.transport.has_ended());
        let handled = self.encode(plain, out, |http, out| match http.receive(bytes, cx, wake, out) {
            // An incomplete request stays incomplete.
            Handled::Done(Next::Receive) if has_ended => Handled::Done(Next::Close),
            handled => handled,
        });
        if self.http.part() != part || self.http.has_upload_room() {
            if part == Part::Content {
                self.http.wait(self.waited(now));
            }
            self.since = now;
        }
        handled
    }

    /// Returns the time since the client's last bytes.
    fn waited(&self, now: Nanos) -> Duration {
        Duration::from_nanos(now.saturating_sub(self.since))
    }

    /// Handles content that arrives while a response is made or sent.
    #[cold]
    fn receive_content(
        &mut self,
        bytes: &[u8],
        now: Nanos,
        cx: &EngineContext,
        plain: &mut Vec<u8>,
        out: &mut Vec<u8>,
    ) -> Handled {
        let is_handling = self.state.is_handling();
        if !matches!(self.state, State::Writing { .. }) {
            self.http.wait(self.waited(now));
            self.since = now;
        }
        self.encode(plain, out, |http, out| http.receive_content(bytes, is_handling, cx, out))
    }

    /// Handles the end of the client's side: complete requests have their responses, and an incomplete one stays incomplete.
    #[cold]
    fn receive_end(&mut self) -> Handled {
        if self.state.is_reading() {
            self.end_transport();
        }
        Handled::Done(Next::Drop)
    }

    /// Takes the response of the handler that is waited for.
    pub fn respond(
        &mut self,
        response: Response,
        pending: PendingResponse,
        cx: &EngineContext,
        buffers: &mut Buffers,
    ) -> Handled {
        self.encode(&mut buffers.plain, &mut buffers.out, |http, out| http.respond(response, pending, cx, out))
    }

    /// Sends `100 Continue` to a client that waits for it, if the handler reads the content.
    pub fn invite(&mut self, buffers: &mut Buffers) -> Handled {
        let is_handling = self.state.is_handling();
        self.encode(&mut buffers.plain, &mut buffers.out, |http, out| {
            if is_handling {
                http.invite(out);
            }
            Handled::Done(Next::Receive)
        })
    }

    /// Takes the end of the time for a request. Returns `None` where the connection ends without a response.
    pub fn time_out(&mut self, cx: &EngineContext, buffers: &mut Buffers) -> Option<Handled> {
        let is_handling = self.state.is_handling();
        if !is_handling && !self.state.is_reading() {
            return None;
        }
        let mut has_response = false;
        let handled = self.encode(&mut buffers.plain, &mut buffers.out, |http, out| {
            let handled = http.time_out(is_handling, cx, out);
            has_response = handled.is_some();
            handled.unwrap_or(Handled::Done(Next::Receive))
        });
        has_response.then_some(handled)
    }

    /// Puts the next part of a long body into the empty `unsent`, which stays empty at the body's end.
    ///
    /// # Errors
    /// If the body cannot be sent to its end.
    fn fill(&mut self, plain: &mut Vec<u8>) -> Poll<Result<(), BodyFailed>> {
        let State::Writing { body: Some(body), .. } = &mut self.state else { return Poll::Ready(Ok(())) };
        match self.transport.send(plain, &mut self.unsent, |out| body.fill(out)) {
            Ok(filled) => filled.map_ok(|bytes| self.http.count_sent(bytes)),
            // The keys are used up.
            Err(_) => Poll::Ready(Err(BodyFailed)),
        }
    }

    /// Sends the next part of what is unsent, or then of a long body. Returns how many bytes the socket has taken, 0 if it is full, and
    /// nothing once everything is sent.
    ///
    /// # Errors
    /// If the body cannot be sent to its end, and those of the socket.
    pub fn send_next(&mut self, plain: &mut Vec<u8>) -> Poll<io::Result<Option<usize>>> {
        if self.unsent.is_empty() {
            if T::IS_PLAIN
                && let State::Writing { body: Some(body), .. } = &mut self.state
                && let Some(sent) = body.send(&self.socket)
            {
                if let Ok(Some(sent)) = sent {
                    self.http.count_sent(sent as u64);
                }
                return Poll::Ready(sent);
            }
            match self.fill(plain) {
                Poll::Ready(Ok(())) if self.unsent.is_empty() => return Poll::Ready(Ok(None)),
                Poll::Ready(Ok(())) => {}
                Poll::Ready(Err(BodyFailed)) => return Poll::Ready(Err(io::ErrorKind::UnexpectedEof.into())),
                Poll::Pending => return Poll::Pending,
            }
        }
        let sent = socket::send(&self.socket, &self.unsent)?;
        self.unsent.drain(..sent);
        Poll::Ready(Ok(Some(sent)))
    }

    /// Sends output that no other is before, and with it, where that costs no more, the beginning of a body that follows it. Keeps
    /// what the socket has no room for. Returns how many bytes it has taken.
    ///
    /// # Errors
    /// Those of the socket.
    #[inline]
    pub fn send_output(&mut self, output: &[u8], handled: &mut Handled) -> io::Result<usize> {
        let (sent, of_body) = match handled {
            _ if !self.unsent.is_empty() => (0, 0),
            Handled::Body(body, _) if T::IS_PLAIN => body.send_with(output, &self.socket)?,
            _ => (socket::send(&self.socket, output)?, 0),
        };
        if of_body > 0 {
            self.http.count_sent(of_body as u64);
        }
        self.unsent.extend_from_slice(&output[sent..]);
        Ok(sent + of_body)
    }

    /// Tells the client that nothing was cut off, unless something is unsent. Where the socket has no room, the client does without.
    pub fn end_transport(&mut self) {
        let mut last = Vec::new();
        if self.unsent.is_empty() {
            self.transport.end(&mut last);
        }
        if !last.is_empty() {
            let _ = socket::send(&self.socket, &last);
        }
    }

    /// Appends what `put` makes of the HTTP to `out`, encoded by the transport.
    #[inline]
    fn encode(
        &mut self,
        plain: &mut Vec<u8>,
        out: &mut Vec<u8>,
        put: impl FnOnce(&mut Http1, &mut Vec<u8>) -> Handled,
    ) -> Handled {
        let Self { transport, http, .. } = self;
        match transport.send(plain, out, |out| put(http, out)) {
            Ok(handled) => {
                if handled.is_end() {
                    transport.end(out);
                }
                handled
            }
            // The keys are used up.
            Err(_) => Handled::Done(Next::Close),
        }
    }
}
