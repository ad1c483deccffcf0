//! Lookups of host names by the server's processes: UDP sockets that are connected to port 53, as the resolvers of glibc and Go have them.

use super::holders::socket_inodes;
use super::netlink::Netlink;
use super::tcp::connected_udp;
use std::collections::{BTreeSet, HashSet};

/// The port of the domain name system (RFC 1035, section 4.2).
const DNS: u16 = 53;
/// The number of samples of TCP for one of UDP: the kernel's table of UDP sockets is long.
const EVERY: u64 = 5;

/// The counts of lookups.
#[derive(Debug, Default)]
pub(super) struct Lookups {
    rounds: u64,
    /// The lookups in flight, summed over samples.
    pub sum: u64,
    /// The number of samples.
    pub samples: u64,
}

impl Lookups {
    /// Counts the lookups of these processes, in one of several calls.
    pub fn sample(&mut self, netlink: &mut Netlink, pids: &BTreeSet<i32>) {
        self.rounds += 1;
        if !self.rounds.is_multiple_of(EVERY) {
            return;
        }
        let Ok(sockets) = connected_udp(netlink) else { return };
        self.samples += 1;
        let lookups: HashSet<u64> =
            sockets.into_iter().filter(|(remote, _)| remote.port() == DNS).map(|(_, inode)| inode).collect();
        if !lookups.is_empty() {
            let held = pids.iter().flat_map(|&pid| socket_inodes(pid));
            self.sum += held.filter(|inode| lookups.contains(inode)).count() as u64;
        }
    }
}
