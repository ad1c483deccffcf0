//! The door of the service: how many may wait before it, and how fast they are let in.

use crate::error::Error;
use socket2::{Domain, Protocol, SockRef, Socket, Type};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

/// A listener with its manners.
pub struct Door {
    pub listener: TcpListener,
    /// How long to wait between two that are let in.
    pub every: Option<Duration>,
    nagle: bool,
}

impl Door {
    /// Listens.
    ///
    /// # Errors
    /// If it cannot.
    pub fn open(address: SocketAddr, backlog: i32, every: Option<Duration>, nagle: bool) -> Result<Self, Error> {
        let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
        socket.set_reuse_address(true)?;
        socket.bind(&address.into()).map_err(Error::at(address))?;
        socket.listen(backlog)?;
        Ok(Self { listener: socket.into(), every, nagle })
    }

    /// Prepares a connection that was let in.
    pub fn greet(&self, stream: &impl std::os::fd::AsFd) {
        // It may have been reset already, which the next read tells.
        let _ = SockRef::from(stream).set_tcp_nodelay(!self.nagle);
    }
}

/// Has the connection end with a reset.
pub fn resets(stream: &impl std::os::fd::AsFd) {
    let _ = SockRef::from(stream).set_linger(Some(Duration::ZERO));
}

/// The other side's address.
pub fn peer(stream: &TcpStream) -> Option<std::net::IpAddr> {
    stream.peer_addr().ok().map(|address| address.ip())
}
