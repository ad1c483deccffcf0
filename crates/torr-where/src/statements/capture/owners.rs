//! Which clients' addresses belong to the service, and which to others.

use procfs::process::{FDTarget, Process};
use std::collections::HashSet;
use std::net::SocketAddr;

/// The addresses that were seen so far.
#[derive(Debug, Default)]
pub(super) struct Owners {
    /// Those of the service's sockets.
    pub(super) own: HashSet<SocketAddr>,
    /// Those of other sockets of the same network namespace.
    pub(super) foreign: HashSet<SocketAddr>,
}

impl Owners {
    /// Looks at the sockets of the service's processes that are connected to this port.
    pub(super) fn look(&mut self, processes: &[i32], port: u16) {
        let processes: Vec<_> = processes.iter().filter_map(|&pid| Process::new(pid).ok()).collect();
        let Some(first) = processes.first() else { return };
        let descriptors = processes.iter().filter_map(|process| process.fd().ok()).flatten();
        let inodes: HashSet<u64> = descriptors
            .filter_map(|descriptor| match descriptor.ok()?.target {
                FDTarget::Socket(inode) => Some(inode),
                _ => None,
            })
            .collect();
        let tables = [first.tcp(), first.tcp6()];
        for entry in tables.into_iter().flatten().flatten().filter(|entry| entry.remote_address.port() == port) {
            let address = SocketAddr::new(entry.local_address.ip().to_canonical(), entry.local_address.port());
            // A socket that is closing belongs to no process.
            if inodes.contains(&entry.inode) {
                self.own.insert(address);
            } else if entry.inode != 0 {
                self.foreign.insert(address);
            }
        }
        // A socket may be opened between both looks.
        self.foreign.retain(|address| !self.own.contains(address));
    }
}
