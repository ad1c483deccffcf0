//! The opening of sockets: which address they connect to and from.

use crate::plan::Plan;
use crate::plan::servers::Servers;
use crate::servers::sources::Sources;
use std::io;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use torr_net::{Address, datagrams, socket, timestamp};

/// The addresses of one thread's connections.
pub(super) struct Connector<'r> {
    plan: &'r Plan,
    servers: Servers<'r>,
    /// The only address to connect to, if it is not the plan's.
    only: Option<Address>,
    sources: Sources,
    /// Whether a connection of this thread has become ready for requests.
    pub has_connected: bool,
    /// The number of connections that have a socket, but are not ready for requests.
    pub opening: usize,
}

impl<'r> Connector<'r> {
    /// Returns the connector of the thread with a number, which connects to the address that is given instead of the plan's.
    pub fn new(plan: &'r Plan, thread: usize, only: Option<SocketAddr>) -> Self {
        let sources = Sources::new(&plan.sources, plan.all_addresses()).starting_at(thread);
        let only = only.map(Address::Tcp);
        Self { plan, servers: Servers::of(plan), only, sources, has_connected: false, opening: 0 }
    }

    /// Returns the address at a position, counted in turn, of the server with a number.
    pub fn address(&self, destination: usize, position: usize) -> Address {
        self.only.clone().unwrap_or_else(|| self.servers.address(destination, position))
    }

    /// Begins to connect, from another source address where one has no port left. `by_datagrams` opens a socket of UDP.
    pub fn connect(&mut self, address: &Address, by_datagrams: bool) -> io::Result<OwnedFd> {
        let mut others = self.sources.len() - 1;
        loop {
            let source = self.sources.next();
            let opened = match address {
                Address::Tcp(address) if by_datagrams => datagrams::connect(*address, source),
                address => socket::connect(address, source, self.plan.sends_once()),
            };
            match opened {
                Err(error) if error.kind() == io::ErrorKind::AddrNotAvailable && others > 0 => {
                    others -= 1;
                    self.sources.ran_short();
                }
                Ok(socket) => {
                    if self.plan.uses_kernel_timestamps() {
                        // A socket without stamps has the times at which it is read.
                        let _ = timestamp::enable(&socket);
                    }
                    return Ok(socket);
                }
                error => return error,
            }
        }
    }

    /// Returns how many source addresses have been used.
    pub fn sources_used(&self) -> usize {
        self.sources.used()
    }
}
