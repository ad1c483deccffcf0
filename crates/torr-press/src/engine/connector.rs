//! The opening of sockets: which address they connect to and from.

use crate::plan::Plan;
use crate::sources::Sources;
use std::io;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use torr_net::{Address, socket};

/// The addresses of one thread's connections.
pub(super) struct Connector<'r> {
    plan: &'r Plan,
    /// The only address to connect to, if it is not the plan's.
    only: Option<Address>,
    sources: Sources,
    /// Whether a connection of this thread has become ready for requests.
    pub has_connected: bool,
}

impl<'r> Connector<'r> {
    /// Returns the connector of a thread, which connects to the address that is given instead of the plan's.
    pub fn new(plan: &'r Plan, only: Option<SocketAddr>) -> Self {
        let (only, sources) = (only.map(Address::Tcp), Sources::new(&plan.sources, &plan.addresses));
        Self { plan, only, sources, has_connected: false }
    }

    /// Returns the address at a position, counted in turn.
    pub fn address(&self, position: usize) -> Address {
        let in_turn = || &self.plan.addresses[position % self.plan.addresses.len()];
        self.only.as_ref().unwrap_or_else(in_turn).clone()
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
