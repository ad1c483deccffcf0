//! A worker's connections: bytes from and to sockets, in batches of a few connections.
//!
//! All of a batch are received from, then all requests handled into one buffer, then all responses sent: each step's code and
//! data stay in the caches, which costs less than going one by one. An event is good for one receive.

mod accept;
mod completion;
mod connection;
mod counts;
mod migration;
mod shutdown;
mod stand_in;
mod task;
#[cfg(test)]
mod tests;
mod timeouts;
mod write;

pub(crate) use task::{AbortOnDrop, Task, Work};

use crate::callbacks;
use crate::conn::admission::ConnectionLimits;
use crate::conn::context::{EngineContext, WorkerContext};
use crate::conn::http1::Handled;
use crate::conn::next::Next;
use crate::conn::siblings::{Pulse, Siblings, StandIn};
use crate::conn::transport::Transport;
use crate::process::open_listener::{self, Listener};
use connection::{Buffers, Connection, State};
use counts::TurnCounts;
use std::io;
use std::ops::Range;
use std::os::fd::OwnedFd;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use torr_net::{Event, Events, Interest, Nanos, Poller, Slab, StopSignal, Ticker, Token, clock, socket};

/// The number of connections that are worked on at a time.
const BATCH: usize = 16;
/// The number of readiness events per wait.
const EVENTS: usize = 512;
/// The number of bytes for what a batch receives, and the least that is offered to one receive.
const ARENA: usize = 256 * 1024;
const LEAST_ROOM: usize = 16 * 1024;
/// The initial size of the output buffer in bytes.
const OUTPUT: usize = 64 * 1024;
/// The interval at which time-outs are looked for.
const TICK: Duration = Duration::from_millis(250);

/// The time of a batch, in nanoseconds, after which connections are accepted one by one again.
const HELD_UP: Nanos = 5_000_000;

const LISTENER: Token = Token::new(u32::MAX, u32::MAX);
const STOP_SIGNAL: Token = Token::new(u32::MAX, u32::MAX - 1);
const TICKER: Token = Token::new(u32::MAX, u32::MAX - 2);
const WAKEUPS: Token = Token::new(u32::MAX, u32::MAX - 3);

/// The result of a receive. There are no bytes if a connection continues with its own input.
struct Arrival {
    token: Token,
    bytes: Range<usize>,
    is_end: bool,
}

/// A connection's part of the output buffer, and what follows it.
struct Output {
    token: Token,
    bytes: Range<usize>,
    handled: Handled,
}

/// Where a worker accepts connections.
pub(crate) struct Acceptor {
    pub listener: Arc<Listener>,
    pub pulse: Arc<Pulse>,
    pub siblings: Siblings,
}

impl From<OwnedFd> for Acceptor {
    /// Returns the acceptor of a worker that is alone.
    fn from(socket: OwnedFd) -> Self {
        Self { listener: Arc::new(socket.into()), pulse: Arc::default(), siblings: Siblings::default() }
    }
}

/// A worker's connections, all over the same transport.
pub(crate) struct Engine<T> {
    cx: EngineContext,
    limits: ConnectionLimits,
    poller: Poller,
    listener: Option<Arc<Listener>>,
    /// When the current turn began, for siblings.
    pulse: Arc<Pulse>,
    siblings: Siblings,
    /// The listeners of siblings that are held up.
    stand_ins: Vec<StandIn>,
    stop_signal: Arc<StopSignal>,
    ticker: Ticker,
    /// The time until which nothing is accepted, for want of descriptors.
    accept_again: Option<Nanos>,
    connections: Slab<Connection<T>>,
    /// The time at which the shutdown began.
    leaving: Option<Nanos>,
    now: Nanos,
    counts: TurnCounts,
    events: Events,
    ready: Vec<Event>,
    /// Connections that have more to do of which no event will tell.
    again: Vec<Token>,
    accepted: Vec<Event>,
    /// The number of connections that are accepted at a time: more as long as more are waiting, turn after turn.
    burst: usize,
    streak: u32,
    arena: Box<[u8]>,
    arrivals: Vec<Arrival>,
    buffers: Buffers,
    outputs: Vec<Output>,
    tasks: Vec<Task>,
}

impl<T: Transport> Engine<T> {
    /// # Errors
    /// If the kernel has no descriptor left.
    pub fn new(
        cx: EngineContext,
        limits: ConnectionLimits,
        acceptor: impl Into<Acceptor>,
        stop_signal: Arc<StopSignal>,
    ) -> io::Result<Self> {
        let (poller, Acceptor { listener, pulse, siblings }) = (Poller::new()?, acceptor.into());
        poller.add(&*listener, LISTENER, open_listener::interest(&cx.worker.settings))?;
        poller.add(&stop_signal, STOP_SIGNAL, Interest::Level)?;
        let ticker = Ticker::new(TICK)?;
        poller.add(&ticker, TICKER, Interest::Level)?;
        poller.add(&*cx.worker.wakeups, WAKEUPS, Interest::Level)?;
        Ok(Self {
            cx,
            limits,
            poller,
            listener: Some(listener),
            pulse,
            siblings,
            stand_ins: Vec::new(),
            stop_signal,
            ticker,
            accept_again: None,
            connections: Slab::default(),
            leaving: None,
            now: clock::coarse(),
            counts: TurnCounts::default(),
            events: Events::with_capacity(EVENTS),
            ready: Vec::with_capacity(EVENTS),
            again: Vec::new(),
            accepted: Vec::with_capacity(BATCH),
            burst: 1,
            streak: 0,
            arena: vec![0; ARENA].into_boxed_slice(),
            arrivals: Vec::with_capacity(BATCH),
            buffers: Buffers { out: Vec::with_capacity(OUTPUT), ..Buffers::default() },
            outputs: Vec::with_capacity(BATCH),
            tasks: Vec::new(),
        })
    }

    /// Returns what to wait for: the poller is readable whenever there is something to do.
    pub fn poller(&self) -> &Poller {
        &self.poller
    }

    /// Returns where the worker notes when its current turn began.
    pub fn pulse(&self) -> &Arc<Pulse> {
        &self.pulse
    }

    /// Removes and returns the tasks that are to be started.
    pub fn take_tasks(&mut self) -> std::vec::Drain<'_, Task> {
        self.tasks.drain(..)
    }

    /// Whether tasks are to be started.
    pub fn has_tasks(&self) -> bool {
        !self.tasks.is_empty()
    }

    /// Whether there is something to do of which no event will tell.
    pub fn has_more(&self) -> bool {
        !self.again.is_empty()
    }

    /// Returns what connections share, also those that hyper serves.
    pub fn worker(&self) -> Rc<WorkerContext> {
        Rc::clone(&self.cx.worker)
    }

    /// Waits for something to do, if it may, and does it. Returns whether there was anything.
    #[inline]
    pub fn turn(&mut self, may_wait: bool) -> io::Result<bool> {
        let timeout = if may_wait && self.again.is_empty() { None } else { Some(Duration::ZERO) };
        if timeout.is_none() {
            self.pulse.rest();
        }
        self.poller.wait(&mut self.events, timeout)?;
        if self.events.is_empty() && self.again.is_empty() {
            return Ok(false);
        }
        self.now = clock::coarse();
        self.pulse.begin(self.now);
        self.counts.woken = clock::exact();
        if timeout.is_none() {
            self.cx.worker.meter.awake_since(self.counts.woken);
        }
        self.cx.common_headers.refresh();
        let mut ready = std::mem::take(&mut self.ready);
        let (mut accepting, mut stop, mut tick, mut wakeups) = (false, false, false, false);
        self.again.sort_unstable_by_key(|token| token.bits());
        self.again.dedup();
        ready.extend(self.again.drain(..).map(Event::assumed));
        let again = ready.len();
        for event in self.events.iter() {
            match event.token {
                LISTENER => accepting = true,
                STOP_SIGNAL => stop = true,
                TICKER => tick = true,
                WAKEUPS => wakeups = true,
                _ => ready.push(event),
            }
        }
        if stop {
            self.leave()?;
        }
        // A connection that has more to do may have an event as well, but no batch may have it twice: what it received the
        // second time would be handled before it is known what follows the first.
        if !self.stand_ins.is_empty() && !accepting {
            self.accept_for_siblings();
        }
        let events_ready = ready.len();
        let (again, events) = ready.split_at(again);
        let mut batches = again.chunks(BATCH).chain(events.chunks(BATCH));
        let mut batch = batches.next();
        loop {
            // A few new connections a batch: they wait no longer than those that are open.
            accepting = accepting && self.accept();
            if let Some(batch) = batch {
                self.receive(batch);
            }
            self.handle();
            self.send();
            self.counts.end_batch(&self.cx.worker.meter);
            batch = batches.next();
            if batch.is_none() {
                break;
            }
        }
        ready.clear();
        self.ready = ready;
        if tick {
            self.ticker.clear();
            self.tick()?;
        }
        if wakeups {
            self.take_wakeups();
        }
        self.counts.end_turn(&self.cx.worker.meter, events_ready, self.connections.len());
        Ok(true)
    }

    /// Receives once from each connection of a batch.
    #[inline]
    fn receive(&mut self, batch: &[Event]) {
        let mut used = self.arrivals.last().map_or(0, |arrival| arrival.bytes.end);
        for &Event { token, readable, writable, ended } in batch {
            if writable {
                self.continue_writing(token);
            }
            if !readable {
                continue;
            }
            if self.arena.len() - used < LEAST_ROOM {
                self.handle();
                self.send();
                used = 0;
            }
            let Some(connection) = self.connections.get_mut(token) else { continue };
            connection.ended |= ended;
            match connection.readable() {
                Some(Next::Receive) => {}
                Some(Next::Drop) => {
                    self.connections.remove(token);
                    continue;
                }
                next => {
                    connection.unread = true;
                    if next == Some(Next::Continue) {
                        self.arrivals.push(Arrival { token, bytes: used..used, is_end: false });
                    }
                    continue;
                }
            }
            let room = &mut self.arena[used..];
            let received = match socket::recv(&connection.socket, room) {
                Ok(Some(received)) => received,
                Ok(None) => {
                    connection.unread = false;
                    self.arrivals.push(Arrival { token, bytes: used..used, is_end: false });
                    continue;
                }
                Err(_) => {
                    self.connections.remove(token);
                    continue;
                }
            };
            // A short receive has emptied the socket, except for an end that an event has reported.
            connection.unread = received == room.len() || connection.ended;
            self.arrivals.push(Arrival { token, bytes: used..used + received, is_end: received == 0 });
            used += received;
            self.counts.received += received as u64;
        }
    }

    /// Handles what has arrived, all responses into one buffer.
    #[inline]
    fn handle(&mut self) {
        let begin = clock::exact();
        for Arrival { token, bytes, is_end } in self.arrivals.drain(..) {
            let Some(connection) = self.connections.get_mut(token) else { continue };
            let (start, bytes) = (self.buffers.out.len(), &mut self.arena[bytes]);
            let wake = || self.cx.worker.wakeups.waker(token);
            let handled = connection.receive(bytes, is_end, self.now, &self.cx, wake, &mut self.buffers);
            self.outputs.push(Output { token, bytes: start..self.buffers.out.len(), handled });
        }
        let took = clock::exact() - begin;
        if took > HELD_UP {
            // Connections that are accepted together wait for each other's handlers, while a sibling could accept them.
            (self.burst, self.streak) = (1, 0);
        }
        self.counts.handling += took;
        self.cx.worker.app.watch.took(took);
    }

    /// Sends all responses of a batch.
    #[inline]
    fn send(&mut self) {
        let mut outputs = std::mem::take(&mut self.outputs);
        for Output { token, bytes, mut handled } in outputs.drain(..) {
            let Some(connection) = self.connections.get_mut(token) else {
                dispose(handled);
                continue;
            };
            // More of a request's content may be here while its response is made.
            if connection.unread && connection.http.has_upload_room() {
                self.again.push(token);
            }
            if !bytes.is_empty() {
                match connection.send_output(&self.buffers.out[bytes], &mut handled) {
                    Ok(sent) => self.counts.sent += sent as u64,
                    // The client is gone, but a handler of the application that has begun is finished.
                    Err(_) if matches!(&handled, Handled::Pending(_, pending) if !connection.is_droppable(pending)) => {
                    }
                    Err(_) => {
                        self.connections.remove(token);
                        dispose(handled);
                        continue;
                    }
                }
                connection.since = self.now;
            }
            self.follow(token, handled);
        }
        self.outputs = outputs;
        self.buffers.out.clear();
    }

    /// Does what follows output that is in the socket, or `unsent`.
    #[inline]
    fn follow(&mut self, token: Token, handled: Handled) {
        let Some(connection) = self.connections.get_mut(token) else { return };
        let has_unsent = !connection.unsent.is_empty();
        match handled {
            Handled::Done(Next::Receive) if has_unsent && connection.state.is_reading() => {
                self.write(token, None, Next::Continue);
            }
            Handled::Done(Next::Receive) => {
                if connection.unread {
                    self.again.push(token);
                }
                if has_unsent {
                    self.watch(token, Interest::ReadWrite);
                } else if connection.interest.is_none() {
                    self.watch(token, Interest::Read);
                }
            }
            Handled::Pending(future, pending) if connection.ended && connection.is_droppable(&pending) => {
                self.connections.remove(token);
                dispose(Handled::Pending(future, pending));
            }
            Handled::Pending(future, pending) => {
                let arrived = self.counts.woken;
                connection.enter(State::Handling { pending, arrived, task: None }, self.now);
                self.tasks.push(Task { token, work: Work::Response(future) });
                self.watch(token, if has_unsent { Interest::ReadWrite } else { Interest::Read });
            }
            Handled::Done(Next::Close) if !has_unsent => drop(self.connections.remove(token)),
            Handled::Done(Next::Drop) => drop(self.connections.remove(token)),
            Handled::Done(next) => self.write(token, None, next),
            Handled::Body(body, next) => self.write(token, Some(body), next),
        }
    }

    /// Watches a socket for `interest`, unless it is watched for that.
    fn watch(&mut self, token: Token, interest: Interest) {
        let Some(connection) = self.connections.get_mut(token) else { return };
        let done = match connection.interest.replace(interest) {
            Some(known) if known == interest => return,
            Some(_) => self.poller.modify(&connection.socket, token, interest),
            None => self.poller.add(&connection.socket, token, interest),
        };
        if done.is_err() {
            self.connections.remove(token);
        }
    }
}

/// Drops what would follow for a connection that has ended: a handler's future, say.
#[cold]
fn dispose(handled: Handled) {
    callbacks::dispose("the future of a handler", handled);
}
