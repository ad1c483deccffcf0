//! A worker's connections: bytes from and to sockets, in stages of a few connections.
//!
//! All of a stage are received from, then all requests answered into one buffer, then all answers sent: each stage's
//! code and data stay in the caches, which costs less than going one by one. An event is good for one receive.

mod accepting;
mod announcing;
mod flow;
mod sealing;
mod sending;
mod tending;

use crate::app::Pending;
use crate::callbacks;
use crate::client::{Client, Tls};
use crate::conn::engine::announcing::Announced;
use crate::conn::engine::flow::Flow;
use crate::conn::handover::{Handed, Returned};
use crate::conn::http1::{After, Http1, Long, Next, Part, To};
use crate::conn::seats::{Seat, Seats};
use crate::context::{Context, Desk};
use crate::message::response::Response;
use crate::message::stream::{Made, Stream};
use crate::observe::telemetry::Count;
use crate::process::shutdown::Remaining;
use crate::worker::Running;
use std::io;
use std::ops::Range;
use std::os::fd::OwnedFd;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use torr_net::tls::TlsServer;
use torr_net::{Event, Events, Interest, Nanos, Poller, Slab, StopSignal, Ticker, Token, clock, socket};

/// Connections that are worked on at a time.
const STAGE: usize = 16;
/// Readiness events per wait.
const EVENTS: usize = 512;
/// Room for what a stage receives, and the least that is offered to one receive.
const ARENA: usize = 256 * 1024;
const LEAST_ROOM: usize = 16 * 1024;
/// How often time-outs are looked for, and how often while the server leaves.
const TEND: Duration = Duration::from_millis(250);
const TEND_LEAVING: Duration = Duration::from_millis(20);
/// How long nothing is accepted when the process has no more files.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);
/// How much of a long body is made ready at a time, and how often before others get their turn.
const PIECE: usize = 64 * 1024;
const PIECES: usize = 16;
/// What a client may still send after its connection's last answer, and for how long.
const GENTLE_BYTES: usize = 1024 * 1024;
const GENTLE_TIME: Duration = Duration::from_secs(2);
/// How long an idle connection is kept when the server leaves: its next request may be on its way.
const LEAVING_IDLE: Duration = Duration::from_millis(300);

/// The answer to a connection beyond the limit, but for the fields that end every head.
const TOO_MANY: &[u8] =
    b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nRetry-After: 1\r\nConnection: close\r\n";

const LISTENER: Token = Token::new(u32::MAX, u32::MAX);
const STOP_SIGNAL: Token = Token::new(u32::MAX, u32::MAX - 1);
const TICKER: Token = Token::new(u32::MAX, u32::MAX - 2);
const MAIL: Token = Token::new(u32::MAX, u32::MAX - 3);

/// One client.
struct Connection {
    /// Given back before the socket is closed, so that the client may come again as soon as it sees the end.
    seat: Seat,
    socket: OwnedFd,
    /// Whether readiness is watched: not before the first receive, after which many are gone already.
    watched: bool,
    /// Something may have arrived that was not received because its time had not come.
    unread: bool,
    /// The client has ended its side.
    ended: bool,
    /// TLS, where the server speaks it.
    secure: Option<Box<TlsServer>>,
    /// What has come of a PROXY header that the connection has to begin with.
    preamble: Option<Vec<u8>>,
    http: Http1,
    doing: Doing,
    /// When it began to do that.
    since: Nanos,
    /// Output that the socket had no room for.
    unsent: Vec<u8>,
    /// The rest of a long body.
    body: Option<Long>,
    /// That body has no known length, so that it may have no end.
    endless: bool,
    /// The task that waits for an answer, or for more of its body.
    waiter: Option<Running>,
    /// When the request was there whose handler is waited for.
    asked: Nanos,
    /// What follows once all is sent.
    after: After,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Doing {
    /// Receiving requests, or waiting for one.
    Receiving,
    /// Waiting for a handler.
    Waiting,
    /// Waiting for more of a body.
    Streaming,
    /// Sending what did not fit the socket's buffer.
    Sending,
    /// Reading what the client still sends, to throw it away; so many bytes so far.
    Ending(usize),
}

/// What an accept brought.
enum Accepted {
    In(Token),
    TurnedAway,
    Nobody,
}

/// What a receive brought; nothing, where a connection only goes on with what it has.
struct Arrival {
    token: Token,
    bytes: Range<usize>,
    ended: bool,
}

/// Answers in the output buffer, and what follows them.
struct Answers {
    token: Token,
    bytes: Range<usize>,
    next: Next,
}

/// Something to wait for, on behalf of a connection.
pub(crate) struct Task {
    pub token: Token,
    pub work: Work,
}

/// What is waited for.
pub(crate) enum Work {
    /// A handler's answer.
    Answer(Pending),
    /// What comes next of a body.
    Body(Stream),
    /// A connection that goes on elsewhere.
    HandOver(Handed),
}

pub(crate) struct Engine {
    cx: Context,
    seats: Seats,
    poller: Poller,
    listener: Option<OwnedFd>,
    /// Rung when the server is to leave.
    stop_signal: Arc<StopSignal>,
    ticker: Ticker,
    /// Accepting has stopped until then, for want of files.
    accept_again: Option<Nanos>,
    connections: Slab<Connection>,
    leaving: Option<Nanos>,
    now: Nanos,
    flow: Flow,
    events: Events,
    ready: Vec<Event>,
    again: Vec<Token>,
    newcomers: Vec<Event>,
    /// Connections that are accepted at a time: more as long as more are waiting, turn after turn.
    burst: usize,
    streak: u32,
    arena: Box<[u8]>,
    arrivals: Vec<Arrival>,
    out: Vec<u8>,
    /// What is to be encrypted, or has been decrypted.
    plain: Vec<u8>,
    answers: Vec<Answers>,
    tasks: Vec<Task>,
}

impl Engine {
    pub fn new(cx: Context, seats: Seats, listener: OwnedFd, stop_signal: Arc<StopSignal>) -> io::Result<Self> {
        let poller = Poller::new()?;
        poller.add(&listener, LISTENER, Interest::Level)?;
        poller.add(&stop_signal, STOP_SIGNAL, Interest::Level)?;
        let ticker = Ticker::new(TEND)?;
        poller.add(&ticker, TICKER, Interest::Level)?;
        poller.add(&*cx.mailbox, MAIL, Interest::Level)?;
        Ok(Self {
            cx,
            seats,
            poller,
            listener: Some(listener),
            stop_signal,
            ticker,
            accept_again: None,
            connections: Slab::default(),
            leaving: None,
            now: clock::coarse(),
            flow: Flow::default(),
            events: Events::with_capacity(EVENTS),
            ready: Vec::with_capacity(EVENTS),
            again: Vec::new(),
            newcomers: Vec::with_capacity(STAGE),
            burst: 1,
            streak: 0,
            arena: vec![0; ARENA].into_boxed_slice(),
            arrivals: Vec::with_capacity(STAGE),
            out: Vec::with_capacity(PIECE),
            plain: Vec::new(),
            answers: Vec::with_capacity(STAGE),
            tasks: Vec::new(),
        })
    }

    /// What to wait for: readable whenever there is work.
    pub fn poller(&self) -> &Poller {
        &self.poller
    }

    /// What has come up since the last call that has to be waited for.
    pub fn take_tasks(&mut self) -> std::vec::Drain<'_, Task> {
        self.tasks.drain(..)
    }

    /// Whether anything has come up since the last call of [`Engine::take_tasks`] that has to be waited for.
    pub fn has_tasks(&self) -> bool {
        !self.tasks.is_empty()
    }

    /// What connections share, also where they go on elsewhere.
    pub fn desk(&self) -> Rc<Desk> {
        Rc::clone(&self.cx.desk)
    }

    /// Whether the server was told to leave.
    pub fn is_leaving(&self) -> bool {
        self.leaving.is_some()
    }

    /// Whether the server was told to leave, but at leisure.
    pub fn is_leaving_softly(&self) -> bool {
        self.leaving.is_some() && self.stop_signal.is_draining()
    }

    /// Whether the server was told to leave, and the last connection has gone.
    pub fn has_left(&self) -> bool {
        self.leaving.is_some() && self.connections.is_empty()
    }

    /// Waits for something to do, if it may, and does it. Returns whether there was anything.
    #[inline]
    pub fn turn(&mut self, may_wait: bool) -> io::Result<bool> {
        let patience = if may_wait && self.again.is_empty() { None } else { Some(Duration::ZERO) };
        self.poller.wait(&mut self.events, patience)?;
        if self.events.is_empty() && self.again.is_empty() {
            return Ok(false);
        }
        self.now = clock::coarse();
        self.flow.woken = clock::exact();
        if patience.is_none() {
            self.cx.meter.awake_since(self.flow.woken);
        }
        self.cx.stamp.refresh();
        let mut ready = std::mem::take(&mut self.ready);
        let (mut accepting, mut leave, mut tick, mut mail) = (false, false, false, false);
        self.again.sort_unstable_by_key(|token| token.bits());
        self.again.dedup();
        ready.extend(self.again.drain(..).map(Event::assumed));
        let going_on = ready.len();
        for event in self.events.iter() {
            match event.token {
                LISTENER => accepting = true,
                STOP_SIGNAL => leave = true,
                TICKER => tick = true,
                MAIL => mail = true,
                _ => ready.push(event),
            }
        }
        if leave {
            self.leave()?;
        }
        // A connection that goes on may have an event as well, but no stage may have it twice: what it received the
        // second time would be answered before it is known what follows the first.
        let events_ready = ready.len();
        let (going_on, events) = ready.split_at(going_on);
        let mut stages = going_on.chunks(STAGE).chain(events.chunks(STAGE));
        let mut stage = stages.next();
        loop {
            // A few newcomers a stage: they wait no longer than those who are in.
            accepting = accepting && self.accept();
            if let Some(stage) = stage {
                self.receive(stage);
            }
            self.answer();
            self.send();
            self.flow.end_stage(&self.cx.meter);
            stage = stages.next();
            if stage.is_none() {
                break;
            }
        }
        ready.clear();
        self.ready = ready;
        if tick {
            self.ticker.clear();
            self.tend()?;
        }
        if mail {
            self.read_mail();
        }
        self.flow.end_turn(&self.cx.meter, events_ready, self.connections.len());
        Ok(true)
    }

    /// First stage: one receive from each connection.
    #[inline]
    fn receive(&mut self, stage: &[Event]) {
        let mut used = self.arrivals.last().map_or(0, |arrival| arrival.bytes.end);
        for &Event { token, readable, writable, ended } in stage {
            if writable {
                self.go_on_sending(token);
            }
            if !readable {
                continue;
            }
            if self.arena.len() - used < LEAST_ROOM {
                self.answer();
                self.send();
                used = 0;
            }
            let Some(connection) = self.connections.get_mut(token) else { continue };
            connection.ended |= ended;
            match connection.doing {
                Doing::Receiving if connection.http.is_behind() => {
                    // First what is here already: else a client that sends fast would fill the memory, and one that has
                    // ended its side would be gone before it is answered.
                    connection.unread = true;
                    self.arrivals.push(Arrival { token, bytes: used..used, ended: false });
                    continue;
                }
                Doing::Receiving if !connection.http.is_full() => {}
                Doing::Ending(_) => {}
                _ if connection.http.is_taking() => {}
                // Who has gone takes no answer.
                Doing::Waiting if connection.ended && connection.http.is_droppable() => {
                    self.connections.remove(token);
                    continue;
                }
                Doing::Streaming if connection.ended => {
                    self.connections.remove(token);
                    continue;
                }
                _ => {
                    connection.unread = true;
                    continue;
                }
            }
            let room = &mut self.arena[used..];
            let received = match socket::recv(&connection.socket, room) {
                Ok(Some(received)) => received,
                Ok(None) => {
                    connection.unread = false;
                    self.arrivals.push(Arrival { token, bytes: used..used, ended: false });
                    continue;
                }
                Err(_) => {
                    self.connections.remove(token);
                    continue;
                }
            };
            // A short receive has taken all there was, but for the end that an event told of.
            connection.unread = received == room.len() || connection.ended;
            self.arrivals.push(Arrival { token, bytes: used..used + received, ended: received == 0 });
            used += received;
            self.flow.received += received as u64;
        }
    }

    /// Second stage: what arrived is read, and answered into one buffer.
    #[inline]
    fn answer(&mut self) {
        let begin = clock::exact();
        for Arrival { token, bytes, ended } in self.arrivals.drain(..) {
            let Some(connection) = self.connections.get_mut(token) else { continue };
            if ended {
                // Whatever was complete has been answered; what was not never will be.
                if connection.doing == Doing::Receiving {
                    connection.take_leave();
                }
                self.connections.remove(token);
                continue;
            }
            if let Doing::Ending(so_far) = connection.doing {
                connection.doing = Doing::Ending(so_far + bytes.len());
                if so_far + bytes.len() > GENTLE_BYTES {
                    self.connections.remove(token);
                } else if connection.unread {
                    self.again.push(token);
                }
                continue;
            }
            let mut behind;
            let bytes = match connection.preamble {
                None => &mut self.arena[bytes],
                Some(_) => match connection.announce(&self.arena[bytes]) {
                    Some(Announced::As(rest)) => {
                        behind = rest;
                        &mut behind[..]
                    }
                    Some(Announced::NotYet) => &mut [],
                    None => {
                        self.cx.meter.add(Count::TurnedAway, 1);
                        self.connections.remove(token);
                        continue;
                    }
                },
            };
            let start = self.out.len();
            let (arrived, from) = match &mut connection.secure {
                None => (&*bytes, start),
                Some(secure) => {
                    self.plain.clear();
                    let began = secure.is_handshaking();
                    if let Err(error) = secure.receive(bytes, &mut self.out, &mut self.plain) {
                        let next = sealing::refuse(&error, began, &mut self.out, start);
                        self.answers.push(Answers { token, bytes: start..self.out.len(), next });
                        continue;
                    }
                    if connection.http.client().tls.is_none() && !secure.is_handshaking() {
                        connection.http.client().tls = Tls::of(secure).map(Arc::new);
                        if secure.protocol() == Some(b"h2") {
                            connection.http.expect_http2();
                        }
                    }
                    (&self.plain[..], self.out.len())
                }
            };
            let next = if connection.doing == Doing::Receiving {
                let part = connection.http.part();
                let next = connection.http.receive(arrived, &self.cx, &mut self.out);
                if connection.http.part() != part || connection.http.is_taking() {
                    connection.since = self.now;
                }
                // Whatever is not complete never will be.
                if matches!(next, Next::Receive) && connection.has_said_all() { Next::Close } else { next }
            } else {
                if connection.doing != Doing::Sending {
                    connection.since = self.now;
                }
                connection.http.take_meanwhile(arrived, &self.cx, &mut self.out)
            };
            let next = connection.seal(&mut self.out, from, &mut self.plain, next);
            self.answers.push(Answers { token, bytes: start..self.out.len(), next });
        }
        self.flow.handling += clock::exact() - begin;
    }

    /// Third stage: all answers are sent.
    #[inline]
    fn send(&mut self) {
        let mut answers = std::mem::take(&mut self.answers);
        for Answers { token, bytes, next } in answers.drain(..) {
            let Some(connection) = self.connections.get_mut(token) else {
                discard(next);
                continue;
            };
            // The rest of a body may be here while its request is being answered.
            if connection.unread && connection.http.is_taking() {
                self.again.push(token);
            }
            if !bytes.is_empty() {
                let ahead = !connection.unsent.is_empty();
                match if ahead { Ok(0) } else { socket::send(&connection.socket, &self.out[bytes.clone()]) } {
                    Ok(sent) if sent == bytes.len() => self.flow.sent += sent as u64,
                    Ok(sent) => {
                        self.flow.sent += sent as u64;
                        connection.unsent.extend_from_slice(&self.out[bytes.start + sent..bytes.end]);
                    }
                    // Its client has gone, but a handler of the application that has begun is finished.
                    Err(_) if matches!(next, Next::Wait(_)) && !connection.http.is_droppable() => {}
                    Err(_) => {
                        self.connections.remove(token);
                        discard(next);
                        continue;
                    }
                }
                connection.since = self.now;
            }
            self.follow(token, next);
        }
        self.answers = answers;
        self.out.clear();
    }

    /// Does what follows answers that have been given to the socket, or wait in `unsent`.
    #[inline]
    fn follow(&mut self, token: Token, next: Next) {
        let Some(connection) = self.connections.get_mut(token) else { return };
        match next {
            Next::Stay => {
                let is_stuck = connection.doing == Doing::Waiting && !connection.unsent.is_empty();
                if connection.unread {
                    self.again.push(token);
                }
                if is_stuck {
                    self.watch(token, Interest::ReadWrite);
                }
            }
            Next::Receive if connection.unsent.is_empty() => {
                if connection.unread {
                    self.again.push(token);
                }
                if !connection.watched {
                    self.watch(token, Interest::Read);
                }
            }
            Next::Close if connection.unsent.is_empty() => {
                self.connections.remove(token);
            }
            Next::Receive | Next::GoOn => {
                connection.after = After::GoOn;
                self.send_rest(token);
            }
            Next::Close => {
                connection.after = After::Close;
                self.send_rest(token);
            }
            Next::Send(body, after) => {
                connection.endless = body.is_endless();
                connection.body = Some(body);
                connection.after = after;
                self.send_rest(token);
            }
            Next::HandOver(to) if connection.unsent.is_empty() => self.hand_over(token, to),
            Next::HandOver(to) => {
                connection.after = After::HandOver(to);
                self.send_rest(token);
            }
            Next::Wait(future) if connection.ended && connection.http.is_droppable() => {
                self.connections.remove(token);
                discard(Next::Wait(future));
            }
            Next::Wait(future) => {
                connection.doing = Doing::Waiting;
                connection.since = self.now;
                connection.asked = self.flow.woken;
                self.tasks.push(Task { token, work: Work::Answer(future) });
                if !connection.unsent.is_empty() {
                    self.watch(token, Interest::ReadWrite);
                } else if !connection.watched {
                    self.watch(token, Interest::Read);
                }
            }
            Next::CloseGently => self.end_gently(token),
        }
    }

    /// Whether something is to be done of which no event will tell.
    pub fn has_more(&self) -> bool {
        !self.again.is_empty()
    }
}

/// Drops what would follow for a connection that has gone: a handler's future, say.
#[cold]
fn discard(next: Next) {
    callbacks::dispose("the future of a handler", next);
}

#[cfg(test)]
mod tests;
