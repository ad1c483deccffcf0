//! The opening of sockets: which address they connect to and from.

use crate::plan::Plan;
use crate::sources::Sources;
use std::io;
use std::os::fd::OwnedFd;
use torr_net::{Address, socket};

/// The addresses of one thread's connections.
pub(super) struct Connector<'r> {
    plan: &'r Plan,
    sources: Sources,
    /// Whether a connection of this thread has become ready for requests.
    pub has_connected: bool,
}

impl<'r> Connector<'r> {
    pub fn new(plan: &'r Plan) -> Self {
        Self { plan, sources: Sources::new(&plan.sources, &plan.addresses), has_connected: false }
    }

    /// Returns the address at a position, counted in turn.
    pub fn address(&self, position: usize) -> &'r Address {
        &self.plan.addresses[position % self.plan.addresses.len()]
    }

    /// Begins to connect, from another source address where one has no port left.
    pub fn connect(&mut self, address: &Address) -> io::Result<OwnedFd> {
        let mut others = self.sources.len() - 1;
        loop {
            match socket::connect(address, self.sources.next(), self.plan.sends_once()) {
                Err(error) if error.kind() == io::ErrorKind::AddrNotAvailable && others > 0 => {
                    others -= 1;
                    self.sources.ran_short();
                }
                opened => return opened,
            }
        }
    }

    /// Returns how many source addresses have been used.
    pub fn sources_used(&self) -> usize {
        self.sources.used()
    }
}
