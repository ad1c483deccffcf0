//! The processes that a watcher observes: those behind the target, and those behind their peers.

use super::holders::{Holders, bound_to, listening, socket_inodes, takes};
use super::namespaces::Namespace;
use super::peers::PEERS;
use super::tcp::TcpSocket;
use super::unix::UnixSockets;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::net::SocketAddr;
use std::path::PathBuf;

/// The listening addresses of the server.
#[derive(Debug)]
pub(super) enum Target {
    Tcp(Vec<SocketAddr>),
    /// All listeners with this port.
    Port(u16),
    /// A Unix socket, by its name as the kernel lists it.
    Unix(PathBuf),
}

impl Target {
    /// The sockets, by inode, that listen there.
    pub fn listeners(&self, namespace: Namespace) -> BTreeSet<u64> {
        match self {
            Self::Tcp(_) | Self::Port(_) => listening(&namespace.tables(), |local| self.takes(local)),
            Self::Unix(path) => bound_to(path),
        }
    }

    /// Whether a listener with this local address is the target's.
    pub fn takes(&self, local: SocketAddr) -> bool {
        match self {
            Self::Tcp(addresses) => addresses.iter().any(|&address| takes(local, address)),
            Self::Port(port) => local.port() == *port,
            Self::Unix(_) => false,
        }
    }
}

/// The holders of sockets as of the last scan: the server's processes, those of its peers, and the addresses of other clients.
#[derive(Debug)]
pub(super) struct Scope {
    pub target: Target,
    /// The network namespace that the target is in.
    pub namespace: Namespace,
    /// Whether this process may be the server, as it is in tests.
    with_self: bool,
    holders: Holders,
    /// The server's processes.
    pub server: BTreeSet<i32>,
    /// The processes behind each peer.
    pub peers: BTreeMap<String, BTreeSet<i32>>,
    /// The listeners, by inode, of peers in other network namespaces of this machine; none for a peer on another machine.
    elsewhere: HashMap<SocketAddr, BTreeSet<u64>>,
    /// Peers that others on this machine have connections to as well.
    shared: HashSet<SocketAddr>,
    /// Local addresses of connections that other programs on this machine have to the target.
    foreign_clients: HashSet<SocketAddr>,
    /// The paths of Unix sockets that the server is known to have connections to.
    paths: HashSet<String>,
    /// Connections to Unix sockets, by inode, that have come since the last look and that the server does not hold.
    strangers: HashSet<u64>,
    /// Connections to peers, by inode, without a known holder in the last sample.
    unheld: HashSet<u64>,
    /// Connections that stayed without a known holder, by inode, and whether the server turned out to hold them.
    resolved: HashMap<u64, bool>,
}

/// Returns the listeners of an address in another network namespace of this machine than the one given.
fn listeners_elsewhere(namespace: Namespace, address: SocketAddr) -> BTreeSet<u64> {
    let other = namespace.other_with(&[address]);
    other.map_or_else(BTreeSet::new, |other| listening(&other.tables(), |local| takes(local, address)))
}

/// An address as IPv4 where it is a mapped one: a listener for both families has those.
fn canonical(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}

/// The sockets of a sample by what they are to the target.
#[derive(Debug)]
pub(super) struct Sorted<'a> {
    pub listeners: Vec<&'a TcpSocket>,
    pub accepted: Vec<&'a TcpSocket>,
    /// The connections that the server's processes have opened.
    pub opened: Vec<&'a TcpSocket>,
}

impl Scope {
    pub fn new(target: Target, with_self: bool) -> Self {
        let (server, peers, shared, foreign_clients, paths, strangers, unheld, resolved) = Default::default();
        let holders = Holders::default();
        let (namespace, elsewhere) = (Namespace::Own, HashMap::new());
        Self {
            target,
            namespace,
            with_self,
            holders,
            server,
            peers,
            elsewhere,
            shared,
            foreign_clients,
            paths,
            strangers,
            unheld,
            resolved,
        }
    }

    /// Looks for the target in another network namespace.
    pub fn in_namespace(self, namespace: Namespace) -> Self {
        Self { namespace, ..self }
    }

    /// Looks at all processes again. `peers` are the addresses that the server is known to talk to.
    pub fn look(&mut self, sockets: &[TcpSocket], peers: &HashSet<SocketAddr>) {
        self.holders = Holders::look();
        self.server = self.family(&self.target.listeners(self.namespace));
        let foreign = |socket: &&TcpSocket| peers.contains(&socket.remote) && self.is_foreign(socket.inode);
        self.shared = sockets.iter().filter(foreign).map(|socket| socket.remote).collect();
        let this = std::process::id() as i32;
        let client = |socket: &&TcpSocket| {
            let is_ours = || self.holders.holders(socket.inode).contains(&this);
            !socket.listens && self.target.takes(socket.remote) && self.is_foreign(socket.inode) && !is_ours()
        };
        // A watcher of a port does not know who loads it: that may be another program of this machine.
        let knows_load = matches!(self.target, Target::Tcp(_));
        let clients = sockets.iter().filter(|socket| knows_load && client(socket));
        self.foreign_clients = clients.map(|socket| canonical(socket.local)).collect();
        // This sample has seen the processes that held them.
        (self.strangers, self.unheld, self.resolved) = Default::default();
        self.peers.clear();
        for &peer in peers {
            let mut pids = self.behind(sockets, peer);
            if pids.is_empty() {
                let namespace = self.namespace;
                let inodes = self.elsewhere.entry(peer).or_insert_with(|| listeners_elsewhere(namespace, peer));
                pids = self.holders.families(&self.holders.of(inodes), std::process::id() as i32);
            }
            self.peers.insert(peer.to_string(), pids);
        }
    }

    /// Looks for connections of the server to Unix sockets that it is not known to have connections to, right after `unix` was listed. Returns
    /// whether there are any.
    pub fn find_unix(&mut self, unix: &UnixSockets) -> bool {
        let is_target = |path: &str| matches!(&self.target, Target::Unix(target) if target.as_os_str() == path);
        let is_new = |(path, inode): &(&str, u64)| {
            let has_come = self.holders.holders(*inode).is_empty() && !self.strangers.contains(inode);
            has_come && !self.paths.contains(*path) && !is_target(path)
        };
        let new: Vec<u64> = unix.opened().filter(is_new).map(|(_, inode)| inode).collect();
        if new.is_empty() {
            return false;
        }
        // The open files of the server take long to read: once for each connection that other programs open.
        let known = self.paths.len();
        self.look_unix(unix);
        self.strangers.extend(new);
        self.paths.len() > known
    }

    /// Looks at the server's connections to Unix sockets, right after `unix` was listed: they may be short.
    pub fn look_unix(&mut self, unix: &UnixSockets) {
        let held = self.server.iter().flat_map(|&pid| socket_inodes(pid)).collect();
        let opened = self.opened_unix(unix, &self.server, &self.paths, &held);
        // Paths, not connections, are bounded.
        let now: HashSet<String> = opened.into_iter().map(|(path, _)| path.to_owned()).collect();
        let before: Vec<_> = self.paths.drain().filter(|path| !now.contains(path)).collect();
        self.paths = now.into_iter().chain(before).take(PEERS).collect();
        for path in &self.paths {
            let pids = self.behind_unix(unix, path);
            self.peers.insert(path.clone(), pids);
        }
    }

    /// Returns the processes that listen at an address.
    pub fn behind(&self, sockets: &[TcpSocket], address: SocketAddr) -> BTreeSet<i32> {
        let listeners = sockets.iter().filter(|socket| socket.listens && takes(socket.local, address));
        self.family(&listeners.map(|socket| socket.inode).collect())
    }

    /// Returns the processes that listen at a path.
    pub fn behind_unix(&self, unix: &UnixSockets, path: &str) -> BTreeSet<i32> {
        let listeners = unix.all().iter().filter(|socket| socket.listens && socket.path.as_deref() == Some(path));
        self.family(&listeners.map(|socket| socket.inode).collect())
    }

    /// Returns the processes that held a socket at the last look.
    pub fn holders(&self, inode: u64) -> &[i32] {
        self.holders.holders(inode)
    }

    /// Returns whether a connection is one of the target's clients, seen from either side.
    fn is_clients(&self, socket: &TcpSocket) -> bool {
        self.target.takes(socket.remote) || self.target.takes(socket.local)
    }

    /// Returns the paths of Unix sockets that the server has or had connections to.
    pub fn paths(&self) -> &HashSet<String> {
        &self.paths
    }

    /// Returns the peers of new connections of the server's processes: short connections could not be attributed to them after the
    /// next sample.
    pub fn newly_talked_to(&self, sockets: &[TcpSocket], known: impl Fn(SocketAddr) -> bool) -> HashSet<SocketAddr> {
        let mut opened = self.newly_opened(sockets, &self.server, |socket| known(socket.remote));
        if opened.is_empty() {
            return opened;
        }
        // What was accepted at another port of the server's has the server's process too.
        let listening = self.listening_ports(sockets);
        let local =
            |remote: &SocketAddr| sockets.iter().any(|s| s.remote == *remote && listening.contains(&s.local.port()));
        opened.retain(|remote| !local(remote));
        opened
    }

    /// Returns the remote addresses of connections that have come since the last look and are open files of these processes now. A
    /// connection that `is_known` is left out, and so are those of the target's clients.
    pub fn newly_opened(
        &self,
        sockets: &[TcpSocket],
        pids: &BTreeSet<i32>,
        is_known: impl Fn(&TcpSocket) -> bool,
    ) -> HashSet<SocketAddr> {
        let is_new = |socket: &&TcpSocket| {
            let has_come = !socket.listens && socket.inode != 0 && self.holders.holders(socket.inode).is_empty();
            has_come && !is_known(socket) && !self.is_clients(socket)
        };
        let new: HashMap<u64, SocketAddr> = sockets.iter().filter(is_new).map(|s| (s.inode, s.remote)).collect();
        if new.is_empty() {
            // The open files of many processes take long to read.
            return HashSet::new();
        }
        let held = pids.iter().flat_map(|&pid| socket_inodes(pid));
        held.filter_map(|inode| new.get(&inode).copied()).collect()
    }

    /// Finds out who holds the connections to known peers that have come since the last look and are still there a sample later:
    /// those that the server does not hold are other programs', and so may be others to the same peer.
    pub fn resolve(&mut self, sockets: &[TcpSocket], known: impl Fn(SocketAddr) -> bool) {
        let is_unheld = |socket: &&TcpSocket| {
            let comes =
                !socket.listens && socket.inode != 0 && known(socket.remote) && !self.target.takes(socket.local);
            comes && self.holders.holders(socket.inode).is_empty() && !self.resolved.contains_key(&socket.inode)
        };
        let unheld: Vec<_> = sockets.iter().filter(is_unheld).map(|socket| (socket.inode, socket.remote)).collect();
        let stays: Vec<_> = unheld.iter().filter(|(inode, _)| self.unheld.contains(inode)).copied().collect();
        self.unheld = unheld.into_iter().map(|(inode, _)| inode).collect();
        if stays.is_empty() {
            return;
        }
        let held: HashSet<u64> = self.server.iter().flat_map(|&pid| socket_inodes(pid)).collect();
        for (inode, remote) in stays {
            let is_servers = held.contains(&inode);
            self.resolved.insert(inode, is_servers);
            if !is_servers {
                self.shared.insert(remote);
            }
        }
    }

    /// The ports that the server's processes listen on.
    fn listening_ports(&self, sockets: &[TcpSocket]) -> HashSet<u16> {
        let servers = sockets.iter().filter(|socket| socket.listens && self.is_servers(socket.inode));
        servers.map(|socket| socket.local.port()).collect()
    }

    /// Returns the connections that processes have opened to Unix sockets: where to, and the inode. `held` are sockets that the processes
    /// hold now. `known` are the paths that they are known to have connections to: a connection that has come since the last look, and so
    /// has no known holder, counts if it goes there.
    pub fn opened_unix<'a>(
        &self,
        unix: &'a UnixSockets,
        pids: &BTreeSet<i32>,
        known: &HashSet<String>,
        held: &HashSet<u64>,
    ) -> Vec<(&'a str, u64)> {
        let is_theirs = |(path, inode): &(&str, u64)| match self.holders.holders(*inode) {
            _ if held.contains(inode) => true,
            [] => known.contains(*path),
            holders => holders.iter().any(|pid| pids.contains(pid)),
        };
        unix.opened().filter(is_theirs).collect()
    }

    fn family(&self, listeners: &BTreeSet<u64>) -> BTreeSet<i32> {
        let mut heads = self.holders.of(listeners);
        let this = std::process::id() as i32;
        if !self.with_self {
            heads.remove(&this);
        }
        self.holders.families(&heads, this)
    }

    fn is_foreign(&self, inode: u64) -> bool {
        let holders = self.holders.holders(inode);
        !holders.is_empty() && !holders.iter().any(|pid| self.server.contains(pid))
    }

    /// Whether one of the server's processes had the socket at the last look.
    fn is_servers(&self, inode: u64) -> bool {
        self.holders.holders(inode).iter().any(|pid| self.server.contains(pid))
    }

    /// Sorts the sockets of a sample.
    pub fn sort<'a>(&self, sockets: &'a [TcpSocket], known: impl Fn(SocketAddr) -> bool) -> Sorted<'a> {
        let is_target = |socket: &&TcpSocket| socket.listens && self.target.takes(socket.local);
        let listeners: Vec<_> = sockets.iter().filter(is_target).collect();
        let came_in = |socket: &TcpSocket| listeners.iter().any(|listener| takes(listener.local, socket.local));
        // One without an inode waits in a listener's queue. What other programs of this machine ask is no part of the load.
        let is_load = |socket: &TcpSocket| !self.foreign_clients.contains(&canonical(socket.remote));
        let was_accepted = |socket: &TcpSocket| !socket.listens && socket.inode != 0 && came_in(socket);
        let accepted = sockets.iter().filter(|socket| was_accepted(socket) && is_load(socket)).collect();
        Sorted { listeners, accepted, opened: self.opened(sockets, known) }
    }

    fn opened<'a>(&self, sockets: &'a [TcpSocket], known: impl Fn(SocketAddr) -> bool) -> Vec<&'a TcpSocket> {
        let listening = self.listening_ports(sockets);
        let servers = |socket: &&TcpSocket| {
            if socket.listens || socket.inode == 0 || listening.contains(&socket.local.port()) {
                return false;
            }
            // One that has come since the last look has no known holder. Where no other process of this machine talks to that
            // address, it is the server's too.
            if let Some(&is_servers) = self.resolved.get(&socket.inode) {
                return is_servers;
            }
            let holders = self.holders.holders(socket.inode);
            let is_new = holders.is_empty() && known(socket.remote) && !self.shared.contains(&socket.remote);
            is_new || holders.iter().any(|pid| self.server.contains(pid))
        };
        sockets.iter().filter(servers).collect()
    }
}
