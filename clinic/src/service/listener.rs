//! The listener of the service: its backlog, and the pace at which it accepts.

use socket2::{Domain, Protocol, SockRef, Socket, Type};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::Duration;
use torr_test_support::error::Error;

/// A listening socket with its faults.
pub struct Listener {
    pub socket: TcpListener,
    /// The time to wait after each accepted connection.
    pub every: Option<Duration>,
    nagle: bool,
}

impl Listener {
    /// Listens on an address.
    ///
    /// # Errors
    /// If the address cannot be listened on.
    pub fn open(address: SocketAddr, backlog: i32, every: Option<Duration>, nagle: bool) -> Result<Self, Error> {
        let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
        socket.set_reuse_address(true)?;
        socket.bind(&address.into()).map_err(Error::at(address))?;
        socket.listen(backlog)?;
        Ok(Self { socket: socket.into(), every, nagle })
    }

    /// Sets the options of an accepted connection.
    pub fn configure(&self, stream: &impl std::os::fd::AsFd) {
        // The connection may have been reset already, which the next read shows.
        let _ = SockRef::from(stream).set_tcp_nodelay(!self.nagle);
    }
}

/// Makes closing the connection send a reset.
pub fn resets(stream: &impl std::os::fd::AsFd) {
    let _ = SockRef::from(stream).set_linger(Some(Duration::ZERO));
}

/// Returns the address of the connection's other end.
pub fn peer(stream: &TcpStream) -> Option<std::net::IpAddr> {
    stream.peer_addr().ok().map(|address| address.ip())
}
