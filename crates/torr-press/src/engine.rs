//! The event loop of a load thread: wait, receive, read responses, begin requests, send.
//!
//! Work goes in batches of a few connections: all are received from, then all responses are read and recorded, then all
//! next requests are sent. So the code and data of each step stay in the CPU's caches, which gains more than anything else
//! that user space can do. An event is good for one receive; a connection with more to receive gets another turn.

mod abandon;
mod batch;
mod close;
mod connect;
mod connection;
mod connector;
mod coordinator;
mod datagrams;
mod finish;
mod idle_close;
mod in_flight;
mod late_reading;
mod open_connections;
mod readiness;
mod recorder;
mod response;
mod send;
mod session_state;
mod sessions;
mod slot_queue;
mod slots;
mod socket_sampler;
mod streams;
mod timeout;
mod timers;
mod unsent;
mod unsent_bytes;
mod wait;
mod wake;

use crate::failures;
use crate::pace::pacer::{Due, Pacer};
use crate::plan::Plan;
use crate::plan::servers::Servers;
use crate::protocol::Protocol;
use crate::request::Requests;
use crate::work::source::Source;
use crate::work::users::Users;
use batch::{Arrival, BATCH, Batch};
use connection::{Connection, Sending, Stage, current};
use connector::Connector;
pub(crate) use coordinator::Coordinator;
use late_reading::LateReading;
pub(crate) use open_connections::OpenConnections;
use readiness::Readiness;
use recorder::Recorder;
pub(crate) use recorder::{FailedRequest, ThreadResult};
use session_state::Sessions;
use slots::{AfterWait, Slots};
use socket_sampler::SocketSampler;
use std::io;
use std::ops::Range;
use timers::Timers;
use torr_gauge::FailureKind;
use torr_net::timestamp::Timestamps;
use torr_net::{Clock, Event, Nanos, socket};

/// The number of connections opened before those that are open get their turn.
const MAX_OPENINGS: usize = 64;

/// The next request of a thread.
enum NextRequest {
    /// One of the slot of this connection, with its scheduled time if it has one.
    Of(u32, Option<Nanos>),
    /// A session has begun whose first request is still to come.
    NotYet,
    /// None, for now or for good.
    None,
}

/// One thread's part of a run.
pub(crate) struct Engine<'r, P: Protocol, A, C> {
    plan: &'r Plan,
    coordinator: &'r C,
    /// The clock of the run, from [`Engine::run`] on.
    clock: Clock,
    /// The kernel's time stamps of received bytes, if they are used.
    timestamps: Option<Timestamps>,
    late_reading: LateReading,
    /// When the run ends, if nothing else ends it.
    deadline: Nanos,
    next_sweep: Nanos,
    /// The number of requests that a connection carries at most.
    requests_per_connection: Option<u64>,
    /// Whether a request may have content that all connections send from the same memory.
    has_shared_content: bool,
    pacer: A,
    source: Source<'r>,
    sessions: Option<Box<Sessions>>,
    /// Whether users may park.
    may_park: bool,
    protocol: P::ThreadState,
    /// The connections to the first server, each at the index of its slot or user, then those to the next one.
    connections: Vec<Connection<P>>,
    servers: Servers<'r>,
    /// Returns the protocol of a connection to the server with a number, for servers that are learnt of.
    new_protocol: Box<dyn FnMut(usize) -> P + 'r>,
    /// The numbers of the thread's connections to one server, among those of all threads.
    numbers: Range<usize>,
    connector: Connector<'r>,
    readiness: Readiness,
    slots: Slots,
    batch: Batch,
    recorder: Recorder,
    sockets: SocketSampler,
    /// The timers of connections, where the protocol has some.
    timers: Timers,
}

impl<'r, P: Protocol, A: Pacer, C: Coordinator> Engine<'r, P, A, C> {
    /// Returns the engine of the connections of these numbers, among all of the plan. `protocol` makes the protocol of a
    /// connection to the server with a number.
    pub fn new(
        plan: &'r Plan,
        numbers: Range<usize>,
        mut protocol: impl FnMut(usize) -> P + 'r,
        pacer: A,
        mut source: Source<'r>,
        coordinator: &'r C,
    ) -> io::Result<Self> {
        let servers = Servers::of(plan);
        let may_park = plan.work.users().is_some_and(Users::may_park);
        let mut readiness = Readiness::new()?;
        if let Source::Users(users) = &mut source
            && may_park
        {
            users.all.woken_by(&readiness.wake_up()?);
        }
        // HTTP/2 has no such field.
        let asks_to_close = !P::MULTIPLEXES && plan.work.requests().is_some_and(Requests::ask_to_close);
        Ok(Self {
            plan,
            coordinator,
            clock: Clock::start(),
            timestamps: None,
            late_reading: LateReading::new(plan.can_read_late()),
            deadline: plan.deadline(),
            next_sweep: 0,
            requests_per_connection: if !plan.keep_alive || asks_to_close {
                Some(1)
            } else {
                plan.requests_per_connection
            },
            has_shared_content: plan.work.requests().is_none_or(Requests::has_shared_content),
            pacer,
            sessions: plan.work.users().map(|users| Box::new(Sessions::new(numbers.len(), users))),
            may_park,
            protocol: P::ThreadState::default(),
            connector: Connector::new(plan, coordinator.number(), source.address()),
            source,
            readiness,
            slots: Slots::new(plan, numbers.len()),
            connections: (0..servers.known())
                .flat_map(|destination| numbers.clone().map(move |number| (destination, number)))
                .map(|(destination, number)| Connection::new(number, protocol(destination)))
                .collect(),
            servers,
            new_protocol: Box::new(protocol),
            numbers,
            batch: Batch::new(),
            recorder: Recorder::new(plan),
            sockets: SocketSampler::new(),
            timers: Timers::default(),
        })
    }

    /// Runs until the plan is done, its time is up by the run's clock `time`, or the run is stopped. Returns what was recorded, and the
    /// connections that are still open.
    ///
    /// # Errors
    /// If the kernel refuses to wait for events.
    pub fn run(mut self, time: Clock) -> io::Result<(ThreadResult, OpenConnections<P>)> {
        self.clock = time;
        self.timestamps = self.plan.uses_kernel_timestamps().then(|| Timestamps::new(time));
        let mut now = self.clock.now();
        while !self.is_over(now) {
            self.begin_requests(now);
            now = self.wait(now)?;
            if P::DATAGRAMS && self.recorder.ends_warmup(now) {
                self.settle_all();
            }
            self.recorder.end_warmup(now, self.coordinator);
            self.count_ended_sessions(now);
            self.recorder.hand_over(now, self.coordinator);
            let mut ready = std::mem::take(&mut self.readiness.ready);
            for batch in ready.chunks(BATCH) {
                if let Some(first) = batch.first() {
                    self.expect(first.token.index());
                }
                self.receive(batch);
                self.read_arrivals();
                self.begin_requests(now);
                if P::DATAGRAMS {
                    self.flush_batch(batch);
                }
            }
            ready.clear();
            self.readiness.ready = ready;
            if P::DATAGRAMS {
                self.run_timers(now);
            }
            P::add_tally(&mut self.protocol, &mut self.recorder.sample);
            self.release_deferred(now);
            if self.may_park {
                self.wake_users(now);
            }
            self.sweep(now);
        }
        Ok(self.finish(now))
    }

    fn is_over(&self, now: Nanos) -> bool {
        let in_session = || self.sessions.as_ref().is_some_and(|sessions| sessions.running > 0);
        let is_done =
            || self.slots.in_flight == 0 && !in_session() && (self.slots.all_begun || self.pacer.is_exhausted(now));
        now >= self.deadline || self.coordinator.is_stopped() || self.source.is_stopped() || is_done()
    }

    /// Step 1 of a batch: one receive from each connection.
    #[inline]
    fn receive(&mut self, batch: &[Event]) {
        for &Event { token, readable, writable, ended } in batch {
            if writable {
                self.writable(token);
            }
            if !readable {
                continue;
            }
            if !self.batch.has_room(P::ROOM) {
                self.read_arrivals();
            }
            let Some(connection) = current(&mut self.connections, token) else { continue };
            let Some(socket) = &connection.socket else { continue };
            let received = match &mut self.timestamps {
                None => {
                    let received = P::recv(&mut self.protocol, socket, self.batch.room());
                    received.map(|got| got.map(|len| (len, self.clock.now())))
                }
                Some(timestamps) => timestamps.recv(socket, self.batch.room()),
            };
            match received {
                Ok(Some((len, at))) => {
                    self.late_reading.received(len);
                    if self.plan.quick_ack {
                        socket::acknowledge(socket);
                    }
                    self.batch.received(token, len, ended, at);
                }
                Ok(None) if socket.sending == Sending::Failed => {
                    self.receive_failed(token.index(), failures::closed_unanswered);
                }
                Ok(None) => {}
                Err(error) if P::DATAGRAMS => self.datagrams_refused(token.index(), &error),
                Err(error) => {
                    self.receive_failed(token.index(), || failures::transfer(FailureKind::Read, &error));
                }
            }
        }
    }

    /// Step 2 of a batch: responses are read and recorded.
    #[inline]
    fn read_arrivals(&mut self) {
        let (mut arrivals, mut arena) = self.batch.take_arrivals();
        for (position, &Arrival { token, ref bytes, at, full, ended }) in arrivals.iter().enumerate() {
            if let Some(next) = arrivals.get(position + 1) {
                self.expect(next.token.index());
            }
            let bytes = bytes.clone();
            let Some(connection) = current(&mut self.connections, token) else { continue };
            let index = token.index();
            if bytes.is_empty() {
                self.server_closed(index, at);
                continue;
            }
            self.recorder.received(bytes.len() - P::OVERHEAD, connection.requests.oldest());
            if self.may_park {
                connection.cold.transferred.received += bytes.len() as u64;
            }
            match connection.stage() {
                Some(Stage::Tunnelling) => self.read_tunnel(index, &mut arena[bytes], at),
                _ => self.read(index, &mut arena[bytes], at),
            }
            if !(full || ended) || current(&mut self.connections, token).is_none() {
                continue;
            }
            if full {
                self.readiness.add_turn(token, ended);
            } else {
                // These were the last bytes: no request can follow on this connection.
                self.server_closed(index, at);
            }
        }
        arrivals.clear();
        self.batch.put_back(arrivals, arena);
    }

    /// Makes the slot of a request that has ended available.
    #[inline]
    fn release_slot(&mut self, connection: u32, now: Nanos) {
        self.pacer.request_ended(now);
        self.slots.release(connection);
    }

    /// Step 3 of a batch: available slots begin the requests that are due, and all are sent.
    #[inline]
    fn begin_requests(&mut self, now: Nanos) {
        // Requests that begin once the time is up would be unfinished at no age.
        if now >= self.deadline {
            return;
        }
        let mut openings = 0;
        // The connection whose due requests are to be written together.
        let mut filling = None;
        while openings < MAX_OPENINGS && !self.batch.is_full() {
            let next = match self.slots.continuing.pop_front() {
                Some(index) => NextRequest::Of(index, None),
                None => self.next_due_request(now),
            };
            let (index, scheduled) = match next {
                NextRequest::Of(index, scheduled) => (index, scheduled),
                NextRequest::NotYet => {
                    openings += 1;
                    continue;
                }
                NextRequest::None => break,
            };
            let together = self.requests_together(index);
            let index = self.connection_of(index);
            self.slots.in_flight += usize::from(together);
            // A wait for a slot is no send lag.
            let lag_from = scheduled.map(|due| if self.slots.backlogged { now } else { due });
            let due = scheduled.unwrap_or(now);
            let connection = &mut self.connections[index as usize];
            openings += usize::from(connection.socket.is_none() && connection.requests.is_empty());
            for _ in 0..together {
                let in_warmup = self.recorder.begin(due);
                connection.add_request(due, scheduled.is_some(), in_warmup);
                if self.requests_per_connection.is_some() {
                    connection.cold.begun += 1;
                }
            }
            if let Some(other) = filling.replace(index).filter(|&other| other != index) {
                self.dispatch(other as usize, None);
            }
            if lag_from.is_some() {
                filling = None;
                self.dispatch(index as usize, lag_from);
            }
        }
        if let Some(index) = filling {
            self.dispatch(index as usize, None);
        }
        self.send_all();
    }

    /// Returns the request that the pacer begins next.
    #[inline]
    fn next_due_request(&mut self, now: Nanos) -> NextRequest {
        loop {
            let Some(index) = self.slots.next(|index| self.connections[index as usize].socket.is_some()) else {
                self.slots.backlogged = true;
                return NextRequest::None;
            };
            if self.defer_slot(index as usize, now) {
                self.slots.take();
                continue;
            }
            let scheduled = match self.pacer.next(now) {
                Due::Immediately => None,
                Due::At(due) if self.is_abandoned(due, now) => {
                    self.give_up(due, 1, now);
                    self.abandon_late(now);
                    continue;
                }
                Due::At(due) if due <= now => Some(due),
                later => {
                    if self.slots.pause(later) {
                        self.close_idle();
                    }
                    return NextRequest::None;
                }
            };
            self.slots.take();
            self.slots.next_due = None;
            let begins = self.sessions.is_none() || self.begin_session(index, scheduled.unwrap_or(now), now);
            return if begins { NextRequest::Of(index, scheduled) } else { NextRequest::NotYet };
        }
    }

    /// Makes deferred slots available whose time has come.
    #[inline]
    fn release_deferred(&mut self, now: Nanos) {
        while let Some(slot) = self.slots.pop_deferred(now) {
            match slot.then {
                AfterWait::RequestEnded => self.release_slot(slot.connection, now),
                AfterWait::Available => self.slots.release(slot.connection),
                AfterWait::NextStep | AfterWait::NextStepAtOnce => self.end_pause(slot.connection, now),
            }
        }
    }
}
