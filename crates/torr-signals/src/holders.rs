//! Which processes hold which sockets, and whose children they are.

use super::task;
use procfs::FromBufReadSI;
use procfs::net::{TcpNetEntries, TcpNetEntry, UdpNetEntries, UdpNetEntry, UnixNetEntry};
use rustix::fs::{Dir, Mode, OFlags, open, readlinkat_raw};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::net::{IpAddr, SocketAddr};
use std::path::Path;

/// The state of a listener in the kernel's tables.
const LISTEN: &str = "0A";

/// A look at all processes' open files that can be seen.
#[derive(Debug, Default)]
pub(crate) struct Holders {
    /// Processes by the socket that they hold.
    by_inode: HashMap<u64, Vec<i32>>,
    parents: HashMap<i32, i32>,
}

impl Holders {
    pub fn look() -> Self {
        let mut found = Self::default();
        for pid in numbers(Path::new("/proc")) {
            for inode in socket_inodes(pid) {
                let pids = found.by_inode.entry(inode).or_default();
                if pids.last() != Some(&pid) {
                    pids.push(pid);
                }
            }
            if let Some(parent) = parent(pid) {
                found.parents.insert(pid, parent);
            }
        }
        found
    }

    /// The processes that hold one of the sockets.
    pub fn of(&self, inodes: &BTreeSet<u64>) -> BTreeSet<i32> {
        inodes.iter().flat_map(|inode| self.by_inode.get(inode).into_iter().flatten().copied()).collect()
    }

    /// Returns the processes that hold the socket.
    pub fn holders(&self, inode: u64) -> &[i32] {
        self.by_inode.get(&inode).map_or(&[], Vec::as_slice)
    }

    /// Returns these processes and the ones that they started. What init or an ancestor of `observer` has started is not
    /// counted as theirs, nor is the observer and what it started: such a process merely handed a socket on.
    pub fn families(&self, heads: &BTreeSet<i32>, observer: i32) -> BTreeSet<i32> {
        let above: HashSet<i32> = self.line(observer).collect();
        let roots: BTreeSet<i32> = heads.iter().copied().filter(|pid| !is_init(*pid) && !above.contains(pid)).collect();
        let belongs = |pid: i32| {
            let mut line = self.line(pid).take_while(|&ancestor| ancestor != observer);
            line.any(|ancestor| roots.contains(&ancestor))
        };
        heads.iter().copied().chain(self.parents.keys().copied().filter(|&pid| belongs(pid))).collect()
    }

    /// A process, its parent, and so on.
    fn line(&self, pid: i32) -> impl Iterator<Item = i32> {
        // What was read while processes came and went could be a circle.
        std::iter::successors(Some(pid), |pid| self.parents.get(pid).copied()).take(1000)
    }
}

/// The sockets, by inode, that a process has open.
pub(super) fn socket_inodes(pid: i32) -> Vec<u64> {
    let directory =
        open(format!("/proc/{pid}/fd"), OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty());
    let Ok(directory) = directory else { return vec![] };
    let Ok(entries) = Dir::read_from(&directory) else { return vec![] };
    let mut target = [0; 32];
    let mut inodes = vec![];
    for entry in entries.flatten() {
        let Ok(length) = readlinkat_raw(&directory, entry.file_name(), target.as_mut_slice()) else { continue };
        let name = str::from_utf8(&target[..length]).ok().and_then(|target| target.strip_prefix("socket:["));
        inodes.extend(name.and_then(|name| name.strip_suffix(']')?.parse::<u64>().ok()));
    }
    inodes
}

/// Whether it is the machine's first process. In a container that can be the service.
fn is_init(pid: i32) -> bool {
    pid == 1 && task::stat("1").is_none_or(|stat| ["systemd", "init"].contains(&stat.name.as_str()))
}

fn parent(pid: i32) -> Option<i32> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name, which stands in parentheses, may have anything in it, also spaces and parentheses.
    stat[stat.rfind(')')? + 1..].split_whitespace().nth(1)?.parse().ok()
}

/// The entries of a directory that are numbers: processes, threads.
pub(crate) fn numbers(directory: &Path) -> Vec<i32> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// The listening sockets, by inode, whose local address is one of those. `tables` is the directory of a network namespace's tables.
pub(crate) fn listening(tables: &Path, is_one: impl Fn(SocketAddr) -> bool) -> BTreeSet<u64> {
    let of_tcp = ["tcp", "tcp6"].map(|name| listeners(&tables.join(name)));
    let of_tcp = of_tcp.into_iter().flatten().filter(|entry| is_one(entry.local_address)).map(|entry| entry.inode);
    let found: BTreeSet<_> = of_tcp.collect();
    if !found.is_empty() {
        return found;
    }
    // A server of HTTP/3 alone.
    let serves = |entry: &UdpNetEntry| entry.remote_address.port() == 0 && is_one(entry.local_address);
    let of_udp = ["udp", "udp6"].into_iter().flat_map(|name| datagram_sockets(&tables.join(name)));
    of_udp.filter(serves).map(|entry| entry.inode).collect()
}

/// The sockets, by inode, that are bound to a path, as the kernel lists it, or were accepted there: those have the listener's path, and its
/// process.
pub(crate) fn bound_to(path: &Path) -> BTreeSet<u64> {
    let bound = |entry: &UnixNetEntry| entry.path.as_ref().is_some_and(|other| *other == path);
    let sockets = procfs::net::unix().into_iter().flatten();
    sockets.filter(bound).map(|entry| entry.inode).collect()
}

/// Whether a socket with this local address has to do with connections to the given one.
pub(crate) fn takes(local: SocketAddr, address: SocketAddr) -> bool {
    let (here, there) = (local.ip().to_canonical(), address.ip().to_canonical());
    let all = match here {
        // Most listeners for all of IPv6 take IPv4 as well.
        IpAddr::V6(here) => here.is_unspecified(),
        IpAddr::V4(here) => here.is_unspecified() && there.is_ipv4(),
    };
    local.port() == address.port() && (all || here == there)
}

/// The listeners of a table. The kernel lists them first, and there may be tens of thousands of others after them, which
/// it would cost it milliseconds to list.
fn listeners(table: &Path) -> Vec<TcpNetEntry> {
    let Ok(file) = File::open(table) else { return vec![] };
    let is_listener = |line: &String| line.split_whitespace().nth(3) == Some(LISTEN);
    let mut lines = BufReader::new(file).lines().map_while(Result::ok);
    let heading: Vec<_> = lines.next().into_iter().collect();
    let text = heading.into_iter().chain(lines.take_while(is_listener)).collect::<Vec<_>>().join("\n");
    TcpNetEntries::from_buf_read(text.as_bytes(), procfs::current_system_info()).map_or(vec![], |entries| entries.0)
}

/// The sockets of a table of UDP.
fn datagram_sockets(table: &Path) -> Vec<UdpNetEntry> {
    let Ok(file) = File::open(table) else { return vec![] };
    UdpNetEntries::from_buf_read(BufReader::new(file), procfs::current_system_info())
        .map_or(vec![], |entries| entries.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_of_datagrams_alone_is_found_by_its_port() {
        let server = std::net::UdpSocket::bind("127.0.0.1:0").expect("there is a port");
        let client = std::net::UdpSocket::bind("127.0.0.1:0").expect("there is a port");
        client.connect(server.local_addr().expect("it is bound")).expect("it is there");
        let found = |socket: &std::net::UdpSocket| {
            let address = socket.local_addr().expect("it is bound");
            listening(Path::new("/proc/self/net"), |local| takes(local, address)).len()
        };
        assert_eq!((found(&server), found(&client)), (1, 0));
    }

    fn at(address: &str) -> SocketAddr {
        address.parse().expect("an address")
    }

    #[test]
    fn a_listener_for_all_addresses_takes_each_of_its_family() {
        assert!(takes(at("0.0.0.0:80"), at("127.0.0.1:80")) && takes(at("[::]:80"), at("127.0.0.1:80")));
        assert!(takes(at("[::ffff:10.0.0.1]:80"), at("10.0.0.1:80")) && takes(at("[::1]:80"), at("[::1]:80")));
        assert!(!takes(at("0.0.0.0:80"), at("[::1]:80")) && !takes(at("10.0.0.1:80"), at("127.0.0.1:80")));
        assert!(!takes(at("0.0.0.0:81"), at("127.0.0.1:80")));
    }

    #[test]
    fn a_family_has_the_children_but_neither_the_observer_nor_what_a_common_ancestor_started() {
        // A shell (10) has started a server (20) with workers (21, 22), and this program (30) with a helper (31).
        let parents = HashMap::from([(10, 1), (20, 10), (21, 20), (22, 21), (30, 10), (31, 30)]);
        let holders =
            Holders { by_inode: HashMap::from([(5, vec![20]), (6, vec![10, 20]), (7, vec![20, 30])]), parents };
        let family = |inode| holders.families(&holders.of(&BTreeSet::from([inode])), 30);
        assert_eq!(family(5), BTreeSet::from([20, 21, 22]));
        assert_eq!(family(6), BTreeSet::from([10, 20, 21, 22]));
        assert_eq!(family(7), BTreeSet::from([20, 21, 22, 30]));
        assert_eq!(family(8), BTreeSet::new());
        // A server that has started this program does not own it.
        assert_eq!(holders.families(&BTreeSet::from([30]), 31), BTreeSet::from([30]));
    }
}
