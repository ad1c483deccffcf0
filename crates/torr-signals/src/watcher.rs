//! Watches a server on this machine from a thread of its own, some twenty times a second.

use super::behind::Behind;
use super::clients::Clients;
use super::lookups::Lookups;
use super::machine::{machine, network};
use super::namespaces::Namespace;
use super::netlink::Netlink;
use super::others::Others;
use super::peers::{Link, PEERS, Peers};
use super::processes::Processes;
use super::reading::{PeerCounts, Reading, SCHEMA};
use super::role::role;
use super::rounds::{Rounds, thread_cpu};
use super::scope::{Scope, Target};
use super::sides::sides;
use super::tcp::{self, TcpSocket};
use super::udp::DatagramSockets;
use super::unix::{self, UnixSockets};
use rustix::time::{ClockId, clock_gettime};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::net::SocketAddr;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// The number of samples for one that looks for new connections to Unix sockets, which may be too short for a look at all processes.
const UNIX_EVERY: u64 = 5;

/// A thread that watches a server until the value is dropped.
#[derive(Debug)]
pub struct Watcher {
    state: Arc<Mutex<State>>,
    gentle: Arc<AtomicBool>,
    /// Dropping the sender ends the thread.
    alive: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Watcher {
    /// Watches the listeners of these addresses, which are this machine's. `None` if no listener is visible; it may be in another network
    /// namespace.
    pub fn start(addresses: &[SocketAddr]) -> Option<Self> {
        Self::of(Scope::new(Target::Tcp(addresses.to_vec()), false))
    }

    /// Watches the listeners of addresses that are another network namespace's of this machine, such as a container's. `None` if they are
    /// another machine's, as far as routes and devices tell, or if this process may not look into that namespace, which root may.
    pub fn start_elsewhere(addresses: &[SocketAddr]) -> Option<Self> {
        let namespace = Namespace::Own.other_with(addresses)?;
        Self::of(Scope::new(Target::Tcp(addresses.to_vec()), false).in_namespace(namespace))
    }

    /// Watches the listeners of a port, at any address.
    pub fn start_port(port: u16) -> Option<Self> {
        Self::of(Scope::new(Target::Port(port), false))
    }

    /// Watches the listener of a Unix socket. `None` if no listener is visible.
    pub fn start_unix(path: &Path) -> Option<Self> {
        Self::of(Scope::new(Target::Unix(unix::name_at(&path.canonicalize().ok()?)?.into()), false))
    }

    pub(super) fn of(scope: Scope) -> Option<Self> {
        if scope.target.listeners(scope.namespace).is_empty() {
            return None;
        }
        let mut state = State::new(scope);
        state.look();
        state.sample();
        // The server's peers are known now.
        state.look();
        let state = Arc::new(Mutex::new(state));
        let (alive, ended) = channel();
        let gentle = Arc::new(AtomicBool::new(false));
        let (shared, is_gentle) = (state.clone(), gentle.clone());
        let work = move || {
            let mut rounds = Rounds::new();
            while ended.recv_timeout(rounds.rest()) == Err(RecvTimeoutError::Timeout) {
                let mut state = lock(&shared);
                let begin = thread_cpu();
                state.sample();
                let sampled = thread_cpu();
                rounds.gentle = is_gentle.load(Ordering::Relaxed);
                rounds.sampled(sampled - begin);
                if rounds.look_is_due(state.new_peers) {
                    state.look();
                    rounds.looked(thread_cpu() - sampled);
                }
            }
        };
        let thread = std::thread::Builder::new().name("torr-watcher".into()).spawn(work).ok()?;
        Some(Self { state, gentle, alive: Some(alive), thread: Some(thread) })
    }

    /// Lowers the rate of samples, for callers that need a low CPU use more than precision.
    #[must_use]
    pub fn low_overhead(self) -> Self {
        self.gentle.store(true, Ordering::Relaxed);
        self
    }

    /// Returns the counts so far.
    pub fn reading(&self) -> Reading {
        lock(&self.state).reading()
    }

    /// Returns the CPU time so far of the machine and of the server's known processes, without their threads, and nothing else. It
    /// takes a few reads of `/proc`, where [`Watcher::reading`] looks at all of its processes.
    pub fn cpu_reading(&self) -> Reading {
        lock(&self.state).cpu_reading()
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        self.alive.take();
        if let Some(thread) = self.thread.take() {
            // A panic of the thread does not matter after the last reading.
            let _ = thread.join();
        }
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    // Counts are still counts if a thread that held them has failed.
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

fn since_boot() -> Duration {
    let time = clock_gettime(ClockId::Boottime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

impl Reading {
    /// Returns a reading of this machine without a server.
    pub fn of_machine() -> Self {
        let at_us = since_boot().as_micros() as u64;
        Self { schema: SCHEMA.into(), at_us, machine: machine(), network: network(None), ..Self::default() }
    }
}

#[derive(Debug)]
struct State {
    began: Instant,
    watcher: u64,
    scope: Scope,
    netlink: Option<Netlink>,
    samples: u64,
    sockets: Vec<TcpSocket>,
    clients: Clients,
    peers: Peers,
    /// What is behind the peers.
    behind_peers: Behind,
    lookups: Lookups,
    datagram_sockets: DatagramSockets,
    /// The peers' addresses.
    talked_to: HashSet<SocketAddr>,
    /// Whether the server has had, since the last sample, a new peer whose processes are not known yet.
    new_peers: bool,
    /// Whether there is anything to see among Unix sockets.
    over_unix: bool,
    processes: Processes,
    others: Others,
    /// All processes that were the server's at some time.
    server: BTreeSet<i32>,
    /// All that were behind a peer at some time.
    behind: BTreeMap<String, BTreeSet<i32>>,
}

impl State {
    fn new(scope: Scope) -> Self {
        Self {
            began: Instant::now(),
            watcher: since_boot().as_nanos() as u64,
            netlink: Netlink::open(scope.namespace).ok(),
            scope,
            samples: 0,
            sockets: vec![],
            clients: Clients::default(),
            peers: Peers::default(),
            behind_peers: Behind::default(),
            lookups: Lookups::default(),
            datagram_sockets: DatagramSockets::default(),
            talked_to: HashSet::new(),
            new_peers: false,
            over_unix: false,
            processes: Processes::new(),
            others: Others::new(),
            server: BTreeSet::new(),
            behind: BTreeMap::new(),
        }
    }

    /// Looks for processes that are new.
    fn look(&mut self) {
        self.scope.look(&self.sockets, &self.talked_to);
        let unix = self.netlink.as_mut().and_then(|netlink| UnixSockets::list(netlink).ok()).unwrap_or_default();
        self.scope.look_unix(&unix);
        self.behind_peers.look(&self.scope, &self.sockets, &unix);
        self.over_unix = matches!(self.scope.target, Target::Unix(_))
            || !self.scope.paths().is_empty()
            || self.behind_peers.over_unix();
        self.new_peers = false;
        self.server.extend(&self.scope.server);
        for (address, pids) in &self.scope.peers {
            self.behind.entry(address.clone()).or_default().extend(pids);
        }
        let now_us = self.now_us();
        self.processes.follow(&self.scope.server, now_us);
        self.scope.peers.values().for_each(|pids| self.processes.follow(pids, now_us));
        self.processes.follow(&self.behind_peers.pids().collect(), now_us);
        self.processes.refresh();
        let followed = self.processes.pids();
        self.server.retain(|pid| followed.contains(pid));
        self.behind.values_mut().for_each(|pids| pids.retain(|pid| followed.contains(pid)));
        self.behind_peers.retain(&followed);
        self.others.look(&self.mine());
    }

    /// The processes that have a part in the run: the server's, those that it talks to, and this one.
    fn mine(&self) -> BTreeSet<i32> {
        let behind = self.behind.values().flatten();
        let further = self.behind_peers.pids();
        self.server.iter().chain(behind).copied().chain(further).chain([std::process::id() as i32]).collect()
    }

    fn sample(&mut self) {
        self.processes.sample();
        let Some(netlink) = &mut self.netlink else { return };
        let Ok(sockets) = tcp::sockets(netlink) else { return };
        self.lookups.sample(netlink, &self.scope.server);
        let new = self.scope.newly_talked_to(&sockets, |address| self.talked_to.contains(&address));
        let room = PEERS.saturating_sub(self.talked_to.len());
        for address in new.into_iter().take(room) {
            self.new_peers |= self.talked_to.insert(address);
        }
        self.scope.resolve(&sockets, |address| self.talked_to.contains(&address));
        let looks_for_unix = self.samples.is_multiple_of(UNIX_EVERY);
        let lists_unix = self.over_unix || looks_for_unix;
        let unix = lists_unix.then(|| UnixSockets::list(netlink).ok()).flatten().unwrap_or_default();
        if looks_for_unix && self.scope.find_unix(&unix) {
            (self.over_unix, self.new_peers) = (true, true);
        }
        let sorted = self.scope.sort(&sockets, |address| self.talked_to.contains(&address));
        match &self.scope.target {
            Target::Tcp(_) | Target::Port(_) => self.clients.add(&sorted.listeners, &sorted.accepted),
            Target::Unix(path) => self.clients.add_unix(unix.all(), &path.to_string_lossy()),
        }
        for socket in &sorted.opened {
            if self.talked_to.len() < PEERS {
                self.new_peers |= self.talked_to.insert(socket.remote);
            }
        }
        let over_tcp = sorted.opened.into_iter().map(Link::tcp);
        let over_unix = self.scope.opened_unix(&unix, &self.scope.server, self.scope.paths(), &HashSet::new());
        self.peers.add(
            over_tcp.chain(over_unix.into_iter().map(|(path, inode)| Link::unix(path.to_owned(), inode))).collect(),
        );
        let sides = sides(self.peers.addresses(), &sockets, unix.all());
        self.peers.add_sides(&sides);
        self.new_peers |= self.behind_peers.sample(&self.scope, &sockets, &unix);
        self.sockets = sockets;
        self.samples += 1;
    }

    fn now_us(&self) -> u64 {
        self.began.elapsed().as_micros() as u64
    }

    fn cpu_reading(&mut self) -> Reading {
        Reading {
            schema: SCHEMA.into(),
            watcher: self.watcher,
            at_us: self.now_us(),
            machine: machine(),
            processes: self.processes.cpu_counts(&self.server),
            ..Reading::default()
        }
    }

    fn reading(&mut self) -> Reading {
        self.processes.refresh();
        let mine = self.mine();
        self.others.look(&mine);
        let target = &self.scope.target;
        let of_udp = |netlink| self.datagram_sockets.count(netlink, |local| target.takes(local));
        let datagram_sockets = self.netlink.as_mut().and_then(of_udp);
        let (listeners, clients) = self.clients.counts();
        let mut peers = self.peers.counts();
        for peer in &mut peers {
            let pids = self.behind.get(&peer.address);
            peer.processes = pids.map_or(vec![], |pids| self.processes.counts(pids));
            peer.role = role(peer.processes.iter().map(|process| process.name.as_str()), &peer.address);
            for (counts, pids) in self.behind_peers.counts(&peer.address) {
                let processes = self.processes.counts(&pids);
                let role = role(processes.iter().map(|process| process.name.as_str()), &counts.address);
                peer.peers.push(PeerCounts { role, processes, ..counts });
            }
        }
        Reading {
            schema: SCHEMA.into(),
            watcher: self.watcher,
            at_us: self.now_us(),
            machine: machine(),
            network: network(self.scope.server.first().copied()).or_else(|| network(None)),
            other_namespace: self.scope.namespace != Namespace::Own,
            socket_samples: self.samples,
            listeners,
            clients: (self.samples > 0).then_some(clients),
            processes: self.processes.counts(&self.server),
            peers,
            others: self.others.counts(&mine),
            lookups_sum: self.lookups.sum,
            lookup_samples: self.lookups.samples,
            datagram_sockets,
        }
    }
}
