//! The loop of one worker's UDP socket: datagrams in, connections that have something to do, datagrams out.

use super::Http3Part;
use super::connection::{Buffers, Connection};
use super::mailbox::{Mailbox, Passed};
use super::timers::Timers;
use super::wakes::Wakes;
use crate::callbacks;
use crate::conn::admission::ConnectionLimits;
use crate::conn::context::WorkerContext;
use crate::conn::watched;
use crate::observe::metrics_table::{Count, Gauge};
use bytes::BytesMut;
use std::cell::Cell;
use std::collections::{HashMap, VecDeque};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::OwnedFd;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::sync::watch;
use tokio::time::sleep_until;
use torr_net::datagrams::{self, DatagramCounts, ROOM};
use torr_net::quic::{Arrived, QuicEndpoint, QuicIncoming, Transmission, worker_of};
use torr_net::socket;

/// The number of trains that are received before connections get their turn.
const TRAINS: usize = 32;
/// The number of datagrams of other workers that are taken at a time.
const PASSED: usize = 256;
/// The number of trains that wait for the socket. Further ones are lost, as on the way.
const UNSENT: usize = 1024;
/// The most handshakes in progress with clients that have not shown that they receive at their addresses.
const UNVALIDATED: usize = 256;
/// The time between two looks at connections while the server stops.
const LOOK: Duration = Duration::from_millis(50);
/// The wait where there is no timer.
const LONG: Duration = Duration::from_secs(3600);

/// The connections of one worker.
struct Endpoint {
    mailbox: Mailbox,
    limits: ConnectionLimits,
    /// The number of connections, for the report of what a stop waits for.
    open: Rc<Cell<usize>>,
    quic: QuicEndpoint,
    socket: AsyncFd<OwnedFd>,
    port: u16,
    worker: Rc<WorkerContext>,
    /// Boxed: a table has twice as much room as it needs at times, and a connection is large.
    connections: HashMap<usize, Box<Connection>>,
    /// The number of connections whose handshake is incomplete.
    handshakes: usize,
    /// The number of these from which on a client has to show first that it receives at its address.
    unvalidated: usize,
    /// The connections that have something to do, each once.
    ready: Vec<usize>,
    timers: Timers,
    wakes: Arc<Wakes>,
    buffers: Buffers,
    /// Trains that the socket did not take.
    unsent: VecDeque<(Vec<u8>, Transmission)>,
    counts: DatagramCounts,
    /// Room for a received train, and for one to be sent.
    received: Vec<u8>,
    room: Vec<u8>,
    is_leaving: bool,
    /// The time of the next look at all connections while the server stops.
    looks: Instant,
}

/// Serves HTTP/3 until the server stops and the last connection has ended.
///
/// # Errors
/// If the runtime cannot watch the socket.
pub(crate) async fn serve(
    part: Http3Part,
    worker: Rc<WorkerContext>,
    mut leaving: watch::Receiver<bool>,
    open: Rc<Cell<usize>>,
) -> io::Result<()> {
    let Http3Part { server, socket, mailbox, limits } = part;
    let port = socket::local_addr(&socket)?.port();
    let (mailbox, mut arrived) = mailbox;
    let quic = server.endpoint(mailbox.number);
    let wakes = Arc::<Wakes>::default();
    let unvalidated = most_unvalidated(&limits, mailbox.workers());
    let mut endpoint = Endpoint {
        mailbox,
        limits,
        open,
        quic,
        socket: watched::watch(socket, Interest::READABLE | Interest::WRITABLE)?,
        port,
        worker,
        connections: HashMap::new(),
        handshakes: 0,
        unvalidated,
        ready: Vec::new(),
        timers: Timers::default(),
        wakes: Arc::clone(&wakes),
        buffers: Buffers::default(),
        unsent: VecDeque::new(),
        counts: DatagramCounts::default(),
        received: vec![0; ROOM],
        room: Vec::new(),
        is_leaving: false,
        looks: Instant::now(),
    };
    let mut passed = Vec::new();
    // A connection that is closed has nothing left to send.
    while !endpoint.is_leaving || endpoint.connections.values().any(|connection| !connection.quic.is_closed()) {
        let next = endpoint.timers.next().unwrap_or_else(|| Instant::now() + LONG);
        let next = if endpoint.is_leaving { next.min(Instant::now() + LOOK) } else { next };
        tokio::select! {
            guard = endpoint.socket.readable() => {
                let mut guard = guard?;
                // More may be there than one turn takes.
                if receive(&mut endpoint.received, &mut endpoint.counts, guard.get_inner(), &mut passed) {
                    guard.clear_ready();
                }
                drop(guard);
            }
            guard = endpoint.socket.writable(), if !endpoint.unsent.is_empty() => {
                let mut guard = guard?;
                guard.clear_ready();
                drop(guard);
                endpoint.send_unsent();
            }
            _ = arrived.recv_many(&mut passed, PASSED) => {
                passed.drain(..).for_each(|passed| endpoint.take(passed));
            }
            () = wakes.woken() => wakes.take(|key| endpoint.queue(key, true)),
            () = sleep_until(next.into()) => {}
            _ = leaving.wait_for(|&leaving| leaving), if !endpoint.is_leaving => endpoint.is_leaving = true,
        }
        passed.drain(..).for_each(|datagram| endpoint.route(datagram));
        endpoint.turn();
    }
    Ok(())
}

/// Returns the number of handshakes in progress from which on a worker has clients show first that they receive at their addresses:
/// addresses that a client has forged must not take more than half of the connections that there may be, nor of those that the owner
/// of an address may have.
fn most_unvalidated(limits: &ConnectionLimits, workers: usize) -> usize {
    let (total, per_address) = limits.most();
    let most = per_address.map_or(total, |most| most.min(total));
    UNVALIDATED.min(most / 2 / workers.max(1))
}

/// Receives datagrams. Returns whether there are no more.
fn receive(room: &mut [u8], counts: &mut DatagramCounts, socket: &OwnedFd, out: &mut Vec<Passed>) -> bool {
    for _ in 0..TRAINS {
        let train = match datagrams::recv_from(socket, room, counts) {
            Ok(Some(train)) => train,
            Ok(None) => return true,
            // An error that an earlier datagram has led to, such as that a client's port is closed.
            Err(_) => continue,
        };
        for datagram in room[..train.len].chunks(train.size) {
            out.push(Passed { datagram: BytesMut::from(datagram), peer: train.peer, local: train.local });
        }
    }
    false
}

impl Endpoint {
    /// Takes a received datagram, or passes it on to the worker that its connection belongs to.
    fn route(&mut self, passed: Passed) {
        self.worker.meter.add(Count::Received, passed.datagram.len() as u64);
        let passed = match worker_of(&passed.datagram) {
            Some(other) => self.mailbox.pass(other, passed),
            None => Some(passed),
        };
        if let Some(passed) = passed {
            self.take(passed);
        }
    }

    /// Takes a datagram that is for this worker.
    fn take(&mut self, passed: Passed) {
        let Passed { datagram, peer, local } = passed;
        let mut room = std::mem::take(&mut self.room);
        match self.quic.handle(peer, local, datagram, &mut room) {
            Arrived::Connection(key, event) => {
                if let Some(connection) = self.connections.get_mut(&key) {
                    connection.guarded(|connection| connection.quic.take(event));
                    connection.heard = Instant::now();
                    self.queue(key, false);
                }
            }
            Arrived::Incoming(incoming) => self.accept(incoming, &mut room),
            Arrived::Reply(reply) => self.send(&room, reply),
            Arrived::Nothing => {}
        }
        self.room = room;
    }

    /// Begins a connection, unless a limit is reached.
    fn accept(&mut self, incoming: QuicIncoming, room: &mut Vec<u8>) {
        let (peer, local) = (incoming.peer(), incoming.local());
        if self.is_leaving {
            let refusal = self.quic.refuse(incoming, room);
            return self.send(room, refusal);
        }
        if !incoming.is_validated() && self.handshakes >= self.unvalidated {
            if let Some(retry) = self.quic.retry(incoming, room) {
                self.send(room, retry);
            }
            return;
        }
        self.worker.meter.add(Count::Accepted, 1);
        let counted = Some(peer.ip()).filter(|ip| !self.worker.settings.trusted_proxies.trusts(Some(*ip)));
        let Ok(admission) = self.limits.admit(counted) else {
            self.worker.meter.add(Count::TurnedAway, 1);
            tracing::debug!(?peer, "a connection beyond the limit was refused");
            let refusal = self.quic.refuse(incoming, room);
            return self.send(room, refusal);
        };
        match self.quic.accept(incoming, room) {
            Ok((key, channel)) => {
                let local = local.map(|ip| SocketAddr::new(ip, self.port));
                let waker = self.wakes.waker(key);
                let expires = self.expiry();
                let connection = Connection::new(channel, Rc::clone(&self.worker), local, admission, waker, expires);
                self.connections.insert(key, Box::new(connection));
                self.handshakes += 1;
                self.count_open();
                self.queue(key, false);
            }
            Err(Some(reply)) => self.send(room, reply),
            Err(None) => {}
        }
    }

    /// Lets a connection have its turn.
    fn queue(&mut self, key: usize, is_woken: bool) {
        let Some(connection) = self.connections.get_mut(&key) else { return };
        connection.is_woken |= is_woken;
        if !std::mem::replace(&mut connection.is_queued, true) {
            self.ready.push(key);
        }
    }

    fn count_open(&self) {
        self.open.set(self.connections.len());
        self.worker.meter.set(Gauge::Http3, self.connections.len() as u64);
    }

    /// Returns the time at which a connection that begins now is old.
    fn expiry(&self) -> Option<Instant> {
        let age = self.worker.settings.max_connection_age;
        // As in the engine: connections that were opened together do not end together.
        (!age.is_zero()).then(|| Instant::now() + age.mul_f64(1.0 - 0.1 * fastrand::f64()))
    }

    /// Lets all connections that have something to do do it.
    fn turn(&mut self) {
        let now = Instant::now();
        while let Some(key) = self.timers.expire(now) {
            self.queue(key, false);
        }
        if self.is_leaving && self.looks <= now {
            self.looks = now + LOOK;
            self.leave(now);
        }
        let mut ready = std::mem::take(&mut self.ready);
        for key in ready.drain(..) {
            self.drive(key, now);
        }
        // The room of the list is used again.
        ready.append(&mut self.ready);
        self.ready = ready;
    }

    /// Has all connections end, as the server does.
    fn leave(&mut self, now: Instant) {
        let is_over = self.worker.shutdown.streams_are_over();
        let keys: Vec<_> = self.connections.keys().copied().collect();
        for key in keys {
            if let Some(connection) = self.connections.get_mut(&key) {
                connection.guarded(|connection| {
                    connection.leave(now);
                    if is_over {
                        connection.cut_off();
                    }
                });
                self.queue(key, false);
            }
        }
    }

    /// Lets one connection do what it has to.
    fn drive(&mut self, key: usize, now: Instant) {
        let Some(connection) = self.connections.get_mut(&key) else { return };
        let is_woken = std::mem::take(&mut connection.is_woken);
        connection.is_queued = false;
        let was_handshaking = connection.is_handshaking;
        connection.guarded(|connection| connection.advance(&mut self.buffers, is_woken, now));
        self.handshakes -= usize::from(was_handshaking && !connection.is_handshaking);
        let mut due = None;
        connection.guarded(|connection| due = connection.keep_time(now));
        let mut room = std::mem::take(&mut self.room);
        while self.unsent.is_empty() {
            let Some(connection) = self.connections.get_mut(&key) else { break };
            let Some(transmission) = connection.quic.transmit(&mut room) else { break };
            self.send(&room, transmission);
        }
        self.room = room;
        let Some(connection) = self.connections.get_mut(&key) else { return };
        if connection.quic.settle(&mut self.quic) {
            let removed = self.connections.remove(&key);
            self.handshakes -= usize::from(removed.as_ref().is_some_and(|connection| connection.is_handshaking));
            callbacks::dispose("what a connection has not sent", removed);
            self.timers.disarm(key);
            self.count_open();
            return;
        }
        let due = connection.quic.timeout().into_iter().chain(due).min();
        due.into_iter().for_each(|due| self.timers.arm(key, due));
        if !self.unsent.is_empty() {
            // The rest follows when the socket takes more.
            self.queue(key, false);
        }
    }

    /// Sends a train, or keeps it until the socket takes it.
    fn send(&mut self, bytes: &[u8], transmission: Transmission) {
        let train = &bytes[..transmission.len];
        let is_taken = self.unsent.is_empty() && self.send_now(train, transmission);
        if !is_taken && self.unsent.len() < UNSENT {
            self.unsent.push_back((train.to_vec(), transmission));
        }
    }

    /// Returns whether the train was taken. One that cannot be sent is lost, as it may be on the way: that is for QUIC to repair.
    fn send_now(&mut self, train: &[u8], transmission: Transmission) -> bool {
        let Transmission { size, peer, local, .. } = transmission;
        let ends: (SocketAddr, Option<IpAddr>) = (peer, local);
        let is_taken = datagrams::send_to(self.socket.get_ref(), train, size, ends, &mut self.counts).unwrap_or(true);
        if is_taken {
            self.worker.meter.add(Count::Sent, train.len() as u64);
        }
        is_taken
    }

    fn send_unsent(&mut self) {
        while let Some((train, transmission)) = self.unsent.pop_front() {
            if !self.send_now(&train, transmission) {
                self.unsent.push_front((train, transmission));
                break;
            }
        }
    }
}
