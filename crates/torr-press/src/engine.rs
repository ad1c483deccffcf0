//! The one loop of a thread: wait, receive, read the answers, begin the next requests, send.
//!
//! Work goes in stages of a few connections: all are received from, then all answers read and recorded, then all next
//! requests sent. Each stage's code and data stay in the caches that way, which is worth more than anything else that
//! user space can do. An event is good for one receive; a connection that has more to give gets another turn.

mod connecting;
mod ending;

use crate::failures;
use crate::pacer::{Due, Pacer};
use crate::plan::Plan;
use crate::session::{Answer, Session};
use crate::sources::Sources;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::io;
use std::net::SocketAddr;
use std::num::NonZero;
use std::ops::Range;
use std::os::fd::OwnedFd;
use std::time::Duration;
use torr_gauge::{Failure, Kind, Sample};
use torr_net::{Clock, Events, Interest, Nanos, Poller, Token, backoff, clock, socket};

/// Connections that are worked on at a time.
const STAGE: usize = 32;
/// Readiness events per wait.
const EVENTS: usize = 512;
/// Room for what a stage receives, and the least that is offered to one receive.
const ARENA: usize = 256 * 1024;
const LEAST_ROOM: usize = 16 * 1024;
/// Connections opened between two looks at those that are open already.
const OPENINGS: usize = 64;
/// A request up to this size leaves in one packet on any path.
const ONE_PACKET: usize = 1200;
/// How often time-outs and an interruption are looked for.
const SWEEP: Nanos = 20_000_000;

/// What a thread shares with the others and with who watches it. Touched at samples and on failures only.
pub(crate) trait Link {
    /// Takes what was recorded in the interval of this number; `last` if the thread ends within it.
    fn sample(&self, interval: u64, sample: Sample, last: bool);

    /// An empty sample whose memory is at hand.
    fn fresh_sample(&self) -> Sample;

    /// Whether to end now.
    fn stopped(&self) -> bool;

    /// A first connection of this thread has been established.
    fn reached(&self);

    /// An attempt to connect has failed.
    fn not_reached(&self, failure: &Failure);
}

/// One connection's place; its socket comes and goes. What every request touches fits one cache line.
struct Connection<S> {
    socket: Option<OwnedFd>,
    /// Counts the sockets, so that a late event of an old one is recognised.
    generation: u32,
    session: S,
    /// The request under way.
    request: Option<Pending>,
    connecting: bool,
    /// Whether its readiness is watched.
    watched: bool,
    /// Part of the request did not fit the socket's buffer.
    sending: bool,
    /// Failures since the last answer, as far as they can be counted.
    failures: u8,
    cold: Box<Cold>,
}

/// What only some requests touch.
struct Cold {
    /// When connecting began.
    opened_at: Nanos,
    /// Which of the target's addresses comes next.
    next_address: usize,
    /// No connection has ever been established here.
    first: bool,
    /// The rest of a request that did not fit the socket's buffer.
    unsent: Vec<u8>,
}

/// The clock of one request.
#[derive(Debug, Clone, Copy)]
struct Pending {
    due: Nanos,
    first_byte: Option<NonZero<Nanos>>,
    /// Set when it is sent, not by a schedule.
    free: bool,
}

/// A connection that is ready, and for what.
#[derive(Clone, Copy)]
struct Ready {
    token: Token,
    readable: bool,
    writable: bool,
    ended: bool,
}

/// A request in the output buffer.
struct Send {
    at: u32,
    bytes: Range<usize>,
    /// On a schedule, from when on it could have been sent, if that tells how late this side was.
    lag_from: Option<Nanos>,
}

/// What one receive brought.
struct Arrival {
    token: Token,
    bytes: Range<usize>,
    at: Nanos,
    /// There may be more to receive, of which no event will tell.
    full: bool,
    /// After all that is to be received comes the end.
    ended: bool,
}

/// What a thread knows at its end that no sample tells.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ended {
    pub at: Nanos,
    pub idle: Duration,
    pub asked: u64,
    pub peak: u64,
    pub sources: usize,
}

pub(crate) struct Engine<'r, S, P, L> {
    plan: &'r Plan,
    link: &'r L,
    clock: Clock,
    pacer: P,
    sources: Sources,
    poller: Poller,
    connections: Vec<Connection<S>>,
    sample: Sample,
    // What is to be done.
    events: Events,
    ready: Vec<Ready>,
    again: Vec<Ready>,
    /// Places without a request. On a schedule those with a connection stand in front.
    free: VecDeque<u32>,
    retries: BinaryHeap<Reverse<(Nanos, u32)>>,
    // What a stage works on.
    arena: Box<[u8]>,
    arrivals: Vec<Arrival>,
    out: Vec<u8>,
    sends: Vec<Send>,
    // Where the run stands.
    deadline: Nanos,
    interval: Nanos,
    intervals: u64,
    next_sweep: Nanos,
    next_due: Option<Nanos>,
    /// Requests may be due for which there is no free place.
    no_place: bool,
    all_begun: bool,
    under_way: usize,
    open_now: u64,
    reached: bool,
    asked: u64,
    peak: u64,
    idle: Nanos,
}

impl<'r, S: Session, P: Pacer, L: Link> Engine<'r, S, P, L> {
    /// The connections of these numbers, of all that the plan has.
    pub fn new(
        plan: &'r Plan,
        numbers: Range<usize>,
        session: impl Fn() -> S,
        pacer: P,
        link: &'r L,
        clock: Clock,
        interval: Duration,
    ) -> io::Result<Self> {
        let place = |number| Connection {
            socket: None,
            generation: 0,
            session: session(),
            request: None,
            connecting: false,
            watched: false,
            sending: false,
            failures: 0,
            cold: Box::new(Cold { opened_at: 0, next_address: number, first: true, unsent: Vec::new() }),
        };
        let connections: Vec<_> = numbers.map(place).collect();
        Ok(Self {
            plan,
            link,
            clock,
            pacer,
            sources: Sources::new(&plan.sources, &plan.addresses),
            poller: Poller::new()?,
            sample: Sample::default(),
            events: Events::with_capacity(EVENTS),
            ready: Vec::with_capacity(EVENTS),
            again: Vec::new(),
            free: (0..connections.len() as u32).collect(),
            connections,
            retries: BinaryHeap::new(),
            arena: vec![0; ARENA].into_boxed_slice(),
            arrivals: Vec::with_capacity(STAGE),
            out: Vec::new(),
            sends: Vec::with_capacity(STAGE),
            deadline: plan.deadline(),
            interval: clock::nanos(interval),
            intervals: 0,
            next_sweep: 0,
            next_due: None,
            no_place: false,
            all_begun: false,
            under_way: 0,
            open_now: 0,
            reached: false,
            asked: 0,
            peak: 0,
            idle: 0,
        })
    }

    /// Works until the plan is done, its time is up or somebody stops it.
    ///
    /// # Errors
    /// Only if the kernel refuses to wait, which leaves nothing to work with.
    pub fn run(mut self) -> io::Result<Ended> {
        let mut now = self.clock.now();
        while !self.is_over(now) {
            self.begin_requests(now);
            now = self.wait(now)?;
            let mut ready = std::mem::take(&mut self.ready);
            for stage in ready.chunks(STAGE) {
                self.receive(stage);
                self.read_answers();
                self.begin_requests(now);
            }
            ready.clear();
            self.ready = ready;
            self.tend(now);
        }
        Ok(self.end(now))
    }

    fn is_over(&self, now: Nanos) -> bool {
        now >= self.deadline || self.link.stopped() || (self.all_begun && self.under_way == 0)
    }

    /// Waits for readiness, and gathers what is to be worked on.
    #[inline]
    fn wait(&mut self, now: Nanos) -> io::Result<Nanos> {
        let timeout = self.time_to_sleep(now);
        let asleep_from = if timeout == 0 { now } else { self.clock.now() };
        self.poller.wait(&mut self.events, Some(Duration::from_nanos(timeout)))?;
        let now = self.clock.now();
        if timeout > 0 {
            self.idle += now - asleep_from;
        }
        self.ready.append(&mut self.again);
        for at in 0..self.events.len() {
            let event = self.events.get(at);
            self.ready.push(Ready {
                token: event.token,
                readable: event.readable(),
                writable: event.writable(),
                ended: event.ended(),
            });
        }
        Ok(now)
    }

    fn time_to_sleep(&self, now: Nanos) -> Nanos {
        if !self.again.is_empty() || (!self.free.is_empty() && self.next_due.is_none()) {
            return 0;
        }
        let retry = self.retries.peek().map_or(Nanos::MAX, |Reverse((at, _))| *at);
        let due = self.next_due.unwrap_or(Nanos::MAX);
        let next = self.deadline.min(self.next_sweep).min(self.next_sample()).min(retry).min(due);
        next.saturating_sub(now)
    }

    fn next_sample(&self) -> Nanos {
        self.interval * (self.intervals + 1)
    }

    /// First stage: one receive from each connection.
    #[inline]
    fn receive(&mut self, stage: &[Ready]) {
        let mut used = 0;
        for &ready in stage {
            if ready.writable {
                self.go_on_sending(ready.token);
            }
            if !ready.readable {
                continue;
            }
            if self.arena.len() - used < LEAST_ROOM {
                self.read_answers();
                used = 0;
            }
            let Some(connection) = current(&mut self.connections, ready.token) else { continue };
            let Some(socket) = &connection.socket else { continue };
            let room = &mut self.arena[used..];
            match socket::recv(socket, room) {
                Ok(Some(received)) => {
                    let (bytes, full) = (used..used + received, received == room.len());
                    used += received;
                    let at = self.clock.now();
                    self.arrivals.push(Arrival { token: ready.token, bytes, at, full, ended: ready.ended });
                }
                Ok(None) => {}
                Err(error) => {
                    let failure = failures::transfer(Kind::Read, &error);
                    self.lose(ready.token.index(), failure);
                }
            }
        }
    }

    /// Second stage: what arrived is read, and answers are recorded.
    #[inline]
    fn read_answers(&mut self) {
        let mut arrivals = std::mem::take(&mut self.arrivals);
        for arrival in arrivals.drain(..) {
            let Some(connection) = current(&mut self.connections, arrival.token) else { continue };
            let at = arrival.token.index();
            if arrival.bytes.is_empty() {
                self.server_ended(at, arrival.at);
                continue;
            }
            self.sample.received += arrival.bytes.len() as u64;
            if let Some(request) = &mut connection.request {
                request.first_byte = request.first_byte.or(NonZero::new(arrival.at));
            }
            let bytes = &self.arena[arrival.bytes];
            match connection.session.receive(bytes) {
                // Nothing may come that was not asked for.
                Ok((used, _)) if used < bytes.len() || connection.request.is_none() => {
                    self.lose(at, failures::surplus())
                }
                Ok((_, Some(answer))) => {
                    // A server that has ended its side already will not read another request.
                    let keep_alive = answer.keep_alive && !arrival.ended;
                    self.answered(at, Answer { keep_alive, ..answer }, arrival.at);
                }
                Ok((_, None)) => {}
                Err(error) => self.lose(at, failures::protocol(error)),
            }
            if arrival.full || arrival.ended {
                let Arrival { token, ended, .. } = arrival;
                self.again.push(Ready { token, readable: true, writable: false, ended });
            }
        }
        self.arrivals = arrivals;
    }

    #[inline]
    fn answered(&mut self, at: usize, answer: Answer, last_byte: Nanos) {
        let connection = &mut self.connections[at];
        let Some(request) = connection.request.take() else { return };
        connection.failures = 0;
        self.under_way -= 1;
        self.pacer.ended(last_byte);
        let sample = &mut self.sample;
        let took = last_byte.saturating_sub(request.due);
        sample.answered.record(took);
        if let Some(first_byte) = request.first_byte.map(NonZero::get).filter(|&first| first != last_byte) {
            sample.first_apart.record(first_byte.saturating_sub(request.due));
            sample.last_apart.record(took);
        }
        sample.status.count(answer.status);
        sample.body += answer.body;
        if !self.plan.keep_alive {
            self.close(at);
        } else if !answer.keep_alive || connection.sending {
            sample.closed_by_server += 1;
            self.close(at);
        }
        if self.plan.schedule.is_some() && self.connections[at].socket.is_some() {
            // The fewest connections that do, and the last one used, whose memory is still near.
            self.free.push_front(at as u32);
        } else {
            self.free.push_back(at as u32);
        }
    }

    /// Third stage: free connections begin the requests that are due, and all of them are sent.
    #[inline]
    fn begin_requests(&mut self, now: Nanos) {
        let mut openings = 0;
        while openings < OPENINGS {
            let Some(at) = self.free.pop_front() else {
                self.no_place = true;
                break;
            };
            let (due, free) = match self.pacer.next(now) {
                Due::Free => (now, true),
                Due::At(due) if due <= now => (due, false),
                Due::At(due) => {
                    self.next_due = Some(due);
                    self.no_place = false;
                    self.free.push_front(at);
                    break;
                }
                Due::Never => {
                    self.all_begun = true;
                    self.free.clear();
                    break;
                }
            };
            self.next_due = None;
            self.asked += 1;
            self.under_way += 1;
            // Where it had to wait for a place, that is not this side's lag.
            let lag_from = (!free).then_some(if self.no_place { now } else { due });
            let connection = &mut self.connections[at as usize];
            connection.request = Some(Pending { due, free, first_byte: None });
            if connection.socket.is_some() {
                self.write_request(at, lag_from);
            } else {
                openings += 1;
                self.connect(at as usize, lag_from);
            }
        }
        self.send_all();
    }

    #[inline]
    fn write_request(&mut self, at: u32, lag_from: Option<Nanos>) {
        let start = self.out.len();
        self.connections[at as usize].session.start(&mut self.out);
        self.sends.push(Send { at, bytes: start..self.out.len(), lag_from });
    }

    #[inline]
    fn send_all(&mut self) {
        let mut sends = std::mem::take(&mut self.sends);
        for Send { at, bytes, lag_from } in sends.drain(..) {
            let connection = &mut self.connections[at as usize];
            let (Some(socket), Some(request)) = (&connection.socket, &mut connection.request) else { continue };
            if request.free {
                request.due = self.clock.now();
                request.free = false;
            } else if let Some(from) = lag_from {
                self.sample.lag.record(self.clock.now().saturating_sub(from));
            }
            match socket::send(socket, &self.out[bytes.clone()]) {
                Ok(sent) if sent == bytes.len() && connection.watched => self.sample.sent += sent as u64,
                Ok(sent) => self.sent_in_part_or_first(at as usize, bytes, sent),
                Err(error) if connection.connecting => self.fail_to_connect(at as usize, failures::connect(&error)),
                Err(error) => self.lose(at as usize, failures::transfer(Kind::Write, &error)),
            }
        }
        self.sends = sends;
        self.out.clear();
    }
}

/// The connection of a token, if the token is not of a former socket.
#[inline]
fn current<S>(connections: &mut [Connection<S>], token: Token) -> Option<&mut Connection<S>> {
    connections.get_mut(token.index()).filter(|c| c.generation == token.generation() && c.socket.is_some())
}
