//! The one loop of a thread: wait, receive, read the answers, begin the next requests, send.
//!
//! Work goes in stages of a few connections: all are received from, then all answers read and recorded, then all next
//! requests sent. Each stage's code and data stay in the caches that way, which is worth more than anything else that
//! user space can do. An event is good for one receive; a connection that has more to give gets another turn.

mod connecting;
mod connection;
mod ending;
mod looking;
mod slots;
mod tending;

use crate::failed_response::FailedResponseBuffer;
use crate::failures;
use crate::pacer::{Due, Pacer};
use crate::plan::Plan;
use crate::protocol::{InFlight, Protocol, ProtocolEvent, ReceivedResponse};
use crate::request::Cursor;
use crate::sources::Sources;
use connection::{Connection, Pending, Stage, current};
use slots::FreeSlots;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io;
use std::ops::Range;
use std::os::fd::OwnedFd;
use std::time::Duration;
use torr_gauge::collector::FirstResponse;
use torr_gauge::failed_response::FailedResponse;
use torr_gauge::{Failure, FailureKind, Sample};
use torr_net::tls::NegotiatedTls;
use torr_net::{Address, Clock, Event, Events, Interest, Nanos, Poller, Token, backoff, clock, socket};

/// Connections that are worked on at a time.
const STAGE: usize = 32;
/// Readiness events per wait.
const EVENTS: usize = 512;
/// Room for what a stage receives, and the least that is offered to one receive.
const ARENA: usize = 256 * 1024;
const LEAST_ROOM: usize = 16 * 1024;
/// Connections opened between two looks at those that are open already.
const OPENINGS: usize = 64;
/// What is written before it is sent, at most and one request.
const ENOUGH: usize = 1024 * 1024;
/// How often time-outs and an interruption are looked for.
const SWEEP: Nanos = 20_000_000;

/// What a thread shares with the others and with who watches it. Touched at samples and on failures only.
pub(crate) trait Link {
    /// Takes what was recorded in the interval of this number; `last` if the thread ends within it.
    fn sample(&self, interval: u64, sample: Sample, last: bool);

    /// Takes what was recorded of requests that were begun while warming up.
    fn warmup(&self, sample: Sample);

    /// An empty sample whose memory is at hand.
    fn fresh_sample(&self) -> Sample;

    /// Whether to end now.
    fn stopped(&self) -> bool;

    /// A first connection of this thread is ready for requests.
    fn reached(&self);

    /// An attempt to connect has failed.
    fn not_reached(&self, failure: &Failure);
}

/// What is to be sent on a connection.
struct Send {
    at: u32,
    /// Of which socket.
    generation: u32,
    bytes: Range<usize>,
    /// How many requests that makes.
    requests: u16,
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
#[derive(Debug, Clone)]
pub(crate) struct Ended {
    /// When, counted from the end of the warm-up.
    pub at: Nanos,
    pub idle: Duration,
    pub asked: u64,
    pub peak: u64,
    /// Connections that were open already when the warm-up ended.
    pub carried: u64,
    pub sources: usize,
    /// How the first connection was secured.
    pub secured: Option<NegotiatedTls>,
    pub first: Option<FirstResponse>,
    /// The first response with a status of 400 or more.
    pub failed_response: Option<FailedResponse>,
}

/// A slot that becomes free at a later time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Wait {
    until: Nanos,
    at: u32,
    /// A request that was begun in the slot has ended, which the pacer is still to be told.
    begun: bool,
}

pub(crate) struct Engine<'r, S: Protocol, P, L> {
    plan: &'r Plan,
    link: &'r L,
    clock: Clock,
    pacer: P,
    cursor: Cursor<'r>,
    sources: Sources,
    poller: Poller,
    connections: Vec<Connection<S>>,
    shared: S::ThreadState,
    sample: Sample,
    // What is to be done.
    events: Events,
    ready: Vec<Event>,
    again: Vec<Event>,
    /// Slots that may take a request now.
    free: FreeSlots,
    /// Slots that become free at their time: after a failure, or a think time.
    later: BinaryHeap<Reverse<Wait>>,
    // What a stage works on.
    arena: Box<[u8]>,
    arrivals: Vec<Arrival>,
    out: Vec<u8>,
    sends: Vec<Send>,
    /// How many requests a connection carries.
    carries: Option<u64>,
    // Where the run stands.
    warm_until: Nanos,
    /// Once the warm-up is over, what its last requests still bring.
    warm: Option<Box<Sample>>,
    deadline: Nanos,
    interval: Nanos,
    intervals: u64,
    next_sweep: Nanos,
    /// Which connection the kernel is asked about next, and whether it tells.
    next_look: usize,
    can_look: bool,
    next_due: Option<Nanos>,
    /// Requests may be due for which there is no free place.
    no_place: bool,
    all_begun: bool,
    under_way: usize,
    open_now: u64,
    reached: bool,
    asked: u64,
    peak: u64,
    carried: u64,
    idle: Nanos,
    /// When the last request on a schedule was sent.
    last_sent: Option<Nanos>,
    secured: Option<NegotiatedTls>,
    /// Whether a failed response is still to be kept.
    gathers: bool,
    failed_response: Option<FailedResponse>,
}

impl<'r, S: Protocol, P: Pacer, L: Link> Engine<'r, S, P, L> {
    /// The connections of these numbers, of all that the plan has.
    pub fn new(
        plan: &'r Plan,
        numbers: Range<usize>,
        session: impl Fn() -> S,
        pacer: P,
        cursor: Cursor<'r>,
        link: &'r L,
        clock: Clock,
    ) -> io::Result<Self> {
        Ok(Self {
            plan,
            link,
            clock,
            pacer,
            cursor,
            sources: Sources::new(&plan.sources, &plan.addresses),
            poller: Poller::new()?,
            sample: Sample::default(),
            events: Events::with_capacity(EVENTS),
            ready: Vec::with_capacity(EVENTS),
            again: Vec::new(),
            free: FreeSlots::new(numbers.len(), plan.depth, plan.prefers_open()),
            connections: numbers.map(|number| Connection::new(number, session())).collect(),
            shared: S::ThreadState::default(),
            later: BinaryHeap::new(),
            arena: vec![0; ARENA].into_boxed_slice(),
            arrivals: Vec::with_capacity(STAGE),
            out: Vec::new(),
            sends: Vec::with_capacity(STAGE),
            carries: if plan.keep_alive { plan.requests_per_connection } else { Some(1) },
            warm_until: clock::nanos(plan.warmup),
            warm: None,
            deadline: plan.deadline(),
            interval: clock::nanos(plan.interval),
            intervals: 0,
            next_sweep: 0,
            next_look: 0,
            can_look: true,
            next_due: None,
            no_place: false,
            all_begun: false,
            under_way: 0,
            open_now: 0,
            reached: false,
            asked: 0,
            peak: 0,
            carried: 0,
            idle: 0,
            last_sent: None,
            secured: None,
            gathers: plan.warmup.is_zero(),
            failed_response: None,
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
            self.end_warmup(now);
            self.hand_over(now);
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
        let is_done = || self.under_way == 0 && (self.all_begun || self.pacer.is_exhausted(now));
        now >= self.deadline || self.link.stopped() || is_done()
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
        self.ready.extend(self.events.iter());
        Ok(now)
    }

    fn time_to_sleep(&self, now: Nanos) -> Nanos {
        if !self.again.is_empty() || (!self.free.is_empty() && self.next_due.is_none() && !self.all_begun) {
            return 0;
        }
        let later = self.later.peek().map_or(Nanos::MAX, |Reverse(wait)| wait.until);
        let due = self.next_due.unwrap_or(Nanos::MAX);
        let next = self.deadline.min(self.next_sweep).min(self.next_sample()).min(later).min(due);
        next.saturating_sub(now)
    }

    /// When something is handed over next: a sample, or the warm-up.
    fn next_sample(&self) -> Nanos {
        let begun = u64::from(self.is_warm());
        self.warm_until + self.interval * (self.intervals + begun)
    }

    /// Whether the measurement itself has begun.
    fn is_warm(&self) -> bool {
        self.warm_until == 0 || self.warm.is_some()
    }

    /// First stage: one receive from each connection.
    #[inline]
    fn receive(&mut self, stage: &[Event]) {
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
                    if self.plan.quick_ack {
                        socket::acknowledge(socket);
                    }
                    let (bytes, full) = (used..used + received, received == room.len());
                    used += received;
                    let at = self.clock.now();
                    self.arrivals.push(Arrival { token: ready.token, bytes, at, full, ended: ready.ended });
                }
                Ok(None) => {}
                Err(error) => {
                    let failure = failures::transfer(FailureKind::Read, &error);
                    self.lose(ready.token.index(), failure);
                }
            }
        }
    }

    /// Second stage: what arrived is read, and answers are recorded.
    #[inline]
    fn read_answers(&mut self) {
        let mut arrivals = std::mem::take(&mut self.arrivals);
        let mut arena = std::mem::take(&mut self.arena);
        for arrival in arrivals.drain(..) {
            let Some(connection) = current(&mut self.connections, arrival.token) else { continue };
            let at = arrival.token.index();
            if arrival.bytes.is_empty() {
                self.server_ended(at, arrival.at);
                continue;
            }
            let received = arrival.bytes.len() as u64;
            match &self.warm {
                Some(_) if connection.requests.oldest().is_some_and(|request| request.warm) => {
                    self.sample.carried.received += received;
                }
                _ => self.sample.received += received,
            }
            match connection.stage {
                Stage::Tunnelling => self.read_tunnel(at, &mut arena[arrival.bytes], arrival.at),
                _ => self.read(at, &mut arena[arrival.bytes], arrival.at),
            }
            if arrival.full || arrival.ended {
                self.come_back(arrival.token, arrival.full, arrival.ended, arrival.at);
            }
        }
        self.arrivals = arrivals;
        self.arena = arena;
    }

    /// A connection may have more to be received, of which no event will tell.
    fn come_back(&mut self, token: Token, full: bool, ended: bool, now: Nanos) {
        let Some(connection) = current(&mut self.connections, token) else { return };
        if full || connection.written() > 0 {
            self.again.push(Event { token, readable: true, writable: false, ended });
        } else {
            // All has come, and then the end: nothing more can be asked here.
            self.server_ended(token.index(), now);
        }
    }

    /// Gives a connection what has come for it.
    #[inline]
    fn read(&mut self, at: usize, mut input: &mut [u8], now: Nanos) {
        let generation = self.connections[at].generation;
        loop {
            let connection = &mut self.connections[at];
            let oldest = connection.requests.oldest().is_some_and(|request| request.is_head);
            let count = connection.written();
            let gather = if self.gathers { Some(&mut connection.cold.gathered) } else { None };
            let in_flight = InFlight { count, oldest_is_head: oldest, failed_response: gather };
            let start = self.out.len();
            let told = connection.session.receive(&mut self.shared, input, now, in_flight, &mut self.out);
            if self.out.len() > start {
                self.say(at, start);
            }
            match told {
                Ok((used, Some(told))) => {
                    input = &mut input[used..];
                    match told {
                        ProtocolEvent::Response(answer) => self.answered(at, answer, now),
                        ProtocolEvent::Failed(key, failure) => self.fail(at, key, failure),
                        ProtocolEvent::Unprocessed(key) => self.unprocessed(at, key),
                    }
                    if self.connections[at].generation != generation {
                        return;
                    }
                    if !S::BUFFERS_EVENTS && input.is_empty() {
                        break;
                    }
                }
                Ok((_, None)) => break,
                Err(failure) => {
                    self.say_last(at, start);
                    return self.lose(at, failure);
                }
            }
        }
        let connection = &self.connections[at];
        let is_leaving = S::BUFFERS_EVENTS && connection.session.is_draining();
        if connection.unwritten > 0 || connection.stage != Stage::Open || is_leaving {
            self.go_on_opening(at, now);
        }
    }

    /// Records an answer, and frees its place.
    #[inline]
    fn answered(&mut self, at: usize, answer: ReceivedResponse, last_byte: Nanos) {
        let connection = &mut self.connections[at];
        let request = match S::MULTIPLEXES {
            true => connection.requests.take(answer.key),
            false => connection.requests.take_oldest(),
        };
        let Some(request) = request else { return };
        connection.failures = 0;
        self.under_way -= 1;
        let sample = match &mut self.warm {
            Some(warm) if request.warm => {
                self.sample.carried.answered += 1;
                warm
            }
            _ => &mut self.sample,
        };
        let took = last_byte.saturating_sub(request.due);
        sample.answered.record(took);
        if let Some(first_byte) = answer.first_byte.filter(|first| first.get() != last_byte) {
            sample.first_apart.record(first_byte.get().saturating_sub(request.due));
            sample.last_apart.record(took);
        }
        sample.status.count(answer.response.status);
        sample.body += answer.response.body;
        sample.redirects += u64::from(answer.redirects);
        if answer.failed_checks != 0 {
            sample.count_checks(answer.failed_checks);
        }
        if self.plan.detailed {
            let connected = connection.cold.established_at.max(request.due);
            let first_byte = answer.first_byte.map_or(last_byte, |first| first.get());
            sample.processing.record(last_byte.saturating_sub(connected));
            sample.waiting.record(first_byte.saturating_sub(connected));
        }
        let ends =
            !answer.response.keep_alive || (connection.sending && !S::MULTIPLEXES && connection.requests.is_empty());
        if answer.response.status >= 400 {
            self.status_failed(at, &request, answer.response.status, last_byte);
        }
        if ends {
            self.server_closes(at);
        } else if self.carries.is_some() {
            self.retire(at);
        }
        match &self.plan.think {
            Some(think) => {
                self.later.push(Reverse(Wait { until: last_byte + think.time(), at: at as u32, begun: true }))
            }
            None => self.set_free(at, last_byte),
        }
    }

    /// A place may take its next request.
    #[inline]
    fn set_free(&mut self, at: usize, now: Nanos) {
        self.pacer.request_ended(now);
        self.free.put(at as u32);
    }

    /// Third stage: free places begin the requests that are due, and all of them are sent.
    #[inline]
    fn begin_requests(&mut self, now: Nanos) {
        let mut openings = 0;
        // Of one connection all that are due go together.
        let mut filling = None;
        while openings < OPENINGS && self.out.len() < ENOUGH {
            let Some(at) = self.free.next(|at| self.connections[at as usize].socket.is_some()) else {
                self.no_place = true;
                break;
            };
            if (self.carries.is_some() && self.park(at)) || self.rests(at, now) {
                self.free.take();
                continue;
            }
            let (due, free) = match self.pacer.next(now) {
                Due::Immediately => (now, true),
                Due::At(due) if due <= now => (due, false),
                Due::At(due) | Due::Later(due) => {
                    self.next_due = Some(due);
                    self.no_place = false;
                    break;
                }
                Due::NotBefore(time) => {
                    self.next_due = Some(time);
                    self.close_idle();
                    break;
                }
                Due::Never => {
                    self.all_begun = true;
                    self.next_due = None;
                    self.free.clear();
                    break;
                }
            };
            self.free.take();
            self.next_due = None;
            self.under_way += 1;
            let warm = if free { now } else { due } < self.warm_until;
            self.asked += u64::from(!warm);
            // Where it had to wait for a place, that is not this side's lag.
            let lag_from = (!free).then_some(if self.no_place { now } else { due });
            let connection = &mut self.connections[at as usize];
            // What has to wait for a connection with others waits no less than they do.
            let free = free && (connection.stage == Stage::Open || connection.requests.oldest().is_none_or(|r| r.free));
            connection.requests.push(Pending { due, key: 0, free, warm, is_head: false });
            connection.unwritten += 1;
            openings += usize::from(connection.stage == Stage::Closed && connection.requests.len() == 1);
            if self.carries.is_some() {
                connection.cold.begun += 1;
            }
            if let Some(other) = filling.replace(at).filter(|&other| other != at) {
                self.carry(other as usize, None);
            }
            if lag_from.is_some() {
                filling = None;
                self.carry(at as usize, lag_from);
            }
        }
        if let Some(at) = filling {
            self.carry(at as usize, None);
        }
        self.send_all();
    }

    /// Gets the requests that wait on a connection under way.
    #[inline]
    fn carry(&mut self, at: usize, lag_from: Option<Nanos>) {
        match (self.connections[at].stage, lag_from) {
            (Stage::Open, _) => self.write_requests(at, lag_from),
            (Stage::Closed, _) => self.connect(at, lag_from),
            // It waits for the connection, which is not this side's lag.
            (_, Some(from)) => record_lag(&mut self.sample, &mut self.last_sent, from, self.clock.now()),
            (_, None) => {}
        }
    }

    /// Writes as many of the requests that wait as the session has room for.
    #[inline]
    fn write_requests(&mut self, at: usize, lag_from: Option<Nanos>) {
        let connection = &mut self.connections[at];
        let (start, mut requests) = (self.out.len(), 0);
        while connection.unwritten > 0 && connection.session.has_room() {
            let key = if S::MULTIPLEXES { connection.cold.new_key() } else { 0 };
            let is_head = connection.session.start(&mut self.shared, key, &mut self.cursor, &mut self.out);
            if let Some(request) = connection.requests.nth_youngest(connection.unwritten.into()) {
                (request.key, request.is_head) = (key, is_head);
            }
            connection.unwritten -= 1;
            requests += 1;
        }
        if connection.unwritten > 0 && connection.stage == Stage::Open {
            // The server has no room for them: from now on they wait for it.
            connection.start_clocks(|| self.clock.now());
        }
        if let Err(failure) = connection.session.flush(&mut self.shared, &mut self.out) {
            return self.lose(at, failure);
        }
        let (at, generation, end) = (at as u32, connection.generation, self.out.len());
        match self.sends.last_mut() {
            _ if end == start => {}
            // One after another on one connection, and nothing to be told of each: one send does.
            Some(last) if last.at == at && last.bytes.end == start && lag_from.is_none() => {
                last.bytes.end = end;
                last.requests += requests;
            }
            _ => self.sends.push(Send { at, generation, bytes: start..end, requests, lag_from }),
        }
    }

    /// Adds what the session has said since `start` to what is to be sent.
    fn say(&mut self, at: usize, start: usize) {
        let generation = self.connections[at].generation;
        self.sends.push(Send { at: at as u32, generation, bytes: start..self.out.len(), requests: 0, lag_from: None });
    }

    /// Sends what the session has said since `start`, which is why it can't go on, before its connection is closed. If
    /// that does not go, so be it.
    #[cold]
    fn say_last(&mut self, at: usize, start: usize) {
        let connection = &self.connections[at];
        if let Some(socket) = connection.socket.as_ref().filter(|_| !connection.sending && self.out.len() > start) {
            let _ = socket::send(socket, &self.out[start..]);
        }
    }

    #[inline]
    fn send_all(&mut self) {
        while !self.sends.is_empty() {
            self.send_stage();
        }
        self.out.clear();
        if self.out.capacity() > 4 * ENOUGH {
            self.out = Vec::new();
        }
    }

    #[inline]
    fn send_stage(&mut self) {
        let mut sends = std::mem::take(&mut self.sends);
        for Send { at, generation, bytes, requests, lag_from } in sends.drain(..) {
            let connection = &mut self.connections[at as usize];
            let Some(socket) = connection.socket.as_ref().filter(|_| connection.generation == generation) else {
                continue;
            };
            if let Some(from) = lag_from {
                let now = self.clock.now();
                record_lag(&mut self.sample, &mut self.last_sent, from, now);
            } else if requests > 0 {
                connection.requests.set_due(usize::from(connection.unwritten), || self.clock.now());
            }
            if connection.sending {
                connection.cold.unsent.extend_from_slice(&self.out[bytes]);
                continue;
            }
            match socket::send(socket, &self.out[bytes.clone()]) {
                Ok(sent) if sent == bytes.len() && connection.watched => self.sample.sent += sent as u64,
                Ok(sent) => self.sent_in_part_or_first(at as usize, bytes, sent),
                Err(error) if connection.stage == Stage::Connecting => {
                    self.lose(at as usize, failures::connect(&error));
                }
                Err(error) => self.lose(at as usize, failures::transfer(FailureKind::Write, &error)),
            }
        }
        // A connection that has come about meanwhile has more to be sent.
        sends.append(&mut self.sends);
        self.sends = sends;
    }
}

/// Where what becomes of a request is recorded.
#[inline]
fn sample_of<'s>(sample: &'s mut Sample, warm: &'s mut Option<Box<Sample>>, request: &Pending) -> &'s mut Sample {
    match warm {
        Some(warm) if request.warm => warm,
        _ => sample,
    }
}

/// A request on a schedule is sent, which could have been done since `from`.
#[inline]
fn record_lag(sample: &mut Sample, last_sent: &mut Option<Nanos>, from: Nanos, now: Nanos) {
    sample.lag.record(now.saturating_sub(from));
    if let Some(last) = last_sent.replace(now) {
        sample.record_gap(now.saturating_sub(last));
    }
}
