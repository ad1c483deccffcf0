//! What is behind the server's peers on this machine: the services that a peer's processes are connected to.
//!
//! A front that speaks FastCGI, or a pooler before a database, does nothing itself: what its workers wait for is one step further.

use super::holders::socket_inodes;
use super::peers::{Link, PEERS, Peers};
use super::reading::PeerCounts;
use super::role::forwards;
use super::scope::Scope;
use super::task;
use super::tcp::TcpSocket;
use super::unix::UnixSockets;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::net::SocketAddr;

/// The most processes of a peer whose connections are looked for. A peer with more is a server for many, such as a database.
const PROCESSES: usize = 128;

/// The peers that may have peers of their own, by address.
#[derive(Debug, Default)]
pub(super) struct Behind(BTreeMap<String, Front>);

/// One peer of the server.
#[derive(Debug, Default)]
struct Front {
    /// The processes at the last look.
    pids: BTreeSet<i32>,
    /// The ports that the processes listen on.
    ports: HashSet<u16>,
    /// The addresses that the processes are known to have connections to.
    talked_to: HashSet<SocketAddr>,
    /// Those of them that other programs of this machine have connections to as well.
    shared: HashSet<SocketAddr>,
    /// The paths of Unix sockets that the processes are known to have connections to.
    paths: HashSet<String>,
    peers: Peers,
    /// All processes that were behind an address at some time.
    behind: BTreeMap<String, BTreeSet<i32>>,
}

impl Front {
    /// Returns whether a socket is a connection of these processes to another service, and not one that they accepted.
    fn opened(&self, scope: &Scope, socket: &TcpSocket) -> bool {
        if socket.listens || socket.inode == 0 || self.ports.contains(&socket.local.port()) {
            return false;
        }
        let holders = scope.holders(socket.inode);
        let is_new = holders.is_empty() && self.talked_to.contains(&socket.remote);
        is_new && !self.shared.contains(&socket.remote) || holders.iter().any(|pid| self.pids.contains(pid))
    }
}

impl Behind {
    /// Looks for the processes of the server's peers, and for those behind them.
    pub fn look(&mut self, scope: &Scope, sockets: &[TcpSocket], unix: &UnixSockets) {
        for (address, pids) in &scope.peers {
            let is_server = pids.iter().any(|pid| scope.server.contains(pid));
            let name = |pid: &i32| task::stat(&pid.to_string()).map(|stat| stat.name);
            if pids.is_empty() || is_server || pids.len() > PROCESSES || !forwards(pids.iter().find_map(name)) {
                continue;
            }
            let front = self.0.entry(address.clone()).or_default();
            front.pids.clone_from(pids);
            front.look(scope, sockets, unix);
        }
    }

    /// Counts a sample. Returns whether a service was found whose processes are not known yet.
    pub fn sample(&mut self, scope: &Scope, sockets: &[TcpSocket], unix: &UnixSockets) -> bool {
        let mut found = false;
        for front in self.0.values_mut() {
            found |= front.find(scope, sockets);
            let tcp = sockets.iter().filter(|socket| front.opened(scope, socket)).map(Link::tcp);
            let unix = scope.opened_unix(unix, &front.pids, &front.paths, &HashSet::new());
            let links = tcp.chain(unix.into_iter().map(|(path, inode)| Link::unix(path.to_owned(), inode))).collect();
            front.peers.add(links);
        }
        found
    }

    /// Returns whether there is anything to see among Unix sockets.
    pub fn over_unix(&self) -> bool {
        self.0.values().any(|front| !front.paths.is_empty())
    }

    /// Returns all processes that were behind a peer at some time.
    pub fn pids(&self) -> impl Iterator<Item = i32> {
        self.0.values().flat_map(|front| front.behind.values().flatten().copied())
    }

    /// Removes processes that are no longer known.
    pub fn retain(&mut self, known: &BTreeSet<i32>) {
        let behind = self.0.values_mut().flat_map(|front| front.behind.values_mut());
        behind.for_each(|pids| pids.retain(|pid| known.contains(pid)));
    }

    /// Returns the counts of the services behind a peer, each with its processes.
    pub fn counts(&self, address: &str) -> Vec<(PeerCounts, BTreeSet<i32>)> {
        let Some(front) = self.0.get(address) else { return vec![] };
        let with_processes = |counts: PeerCounts| {
            let pids = front.behind.get(&counts.address).cloned().unwrap_or_default();
            (counts, pids)
        };
        front.peers.counts().into_iter().map(with_processes).collect()
    }
}

impl Front {
    fn look(&mut self, scope: &Scope, sockets: &[TcpSocket], unix: &UnixSockets) {
        let holds = |pids: &BTreeSet<i32>, inode| scope.holders(inode).iter().any(|pid| pids.contains(pid));
        let listeners = sockets.iter().filter(|socket| socket.listens && holds(&self.pids, socket.inode));
        self.ports = listeners.map(|socket| socket.local.port()).collect();
        let room = PEERS.saturating_sub(self.talked_to.len());
        let opened = sockets.iter().filter(|socket| self.opened(scope, socket)).map(|socket| socket.remote);
        let new: HashSet<SocketAddr> = opened.filter(|address| !self.talked_to.contains(address)).collect();
        self.talked_to.extend(new.into_iter().take(room));
        let is_foreign = |socket: &&TcpSocket| {
            let holders = scope.holders(socket.inode);
            !socket.listens && !holders.is_empty() && !holders.iter().any(|pid| self.pids.contains(pid))
        };
        let foreign = sockets.iter().filter(|socket| self.talked_to.contains(&socket.remote)).filter(is_foreign);
        self.shared = foreign.map(|socket| socket.remote).collect();
        for &address in &self.talked_to {
            self.behind.entry(address.to_string()).or_default().extend(scope.behind(sockets, address));
        }
        let held = self.pids.iter().flat_map(|&pid| socket_inodes(pid)).collect();
        let opened = scope.opened_unix(unix, &self.pids, &self.paths, &held);
        let new: HashSet<_> =
            opened.into_iter().map(|(path, _)| path).filter(|path| !self.paths.contains(*path)).collect();
        let room = PEERS.saturating_sub(self.paths.len());
        self.paths.extend(new.into_iter().take(room).map(str::to_owned));
        for path in &self.paths {
            self.behind.entry(path.clone()).or_default().extend(scope.behind_unix(unix, path));
        }
    }

    /// Finds connections too short to be there at a look: of those that no known process holds, the ones that are in the table of open
    /// files of these processes.
    fn find(&mut self, scope: &Scope, sockets: &[TcpSocket]) -> bool {
        let room = PEERS.saturating_sub(self.talked_to.len());
        if room == 0 {
            return false;
        }
        let is_known =
            |socket: &TcpSocket| self.talked_to.contains(&socket.remote) || self.ports.contains(&socket.local.port());
        let opened = scope.newly_opened(sockets, &self.pids, is_known);
        self.talked_to.extend(opened.iter().take(room));
        !opened.is_empty()
    }
}
