//! The listeners that a program can hand over: those of std and tokio.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixListener;

/// A listener that [`serve`](crate::serve()) and [`Server::on`](crate::Server::on) adopt: `TcpListener` and `UnixListener` of std and
/// tokio. Other types cannot implement it.
pub trait Listener: Sealed + Send + 'static {
    /// The type of its address.
    type Addr;

    /// Returns the address that the listener is bound to.
    ///
    /// # Errors
    /// Returns the errors of `getsockname(2)`.
    fn local_addr(&self) -> io::Result<Self::Addr>;
}

/// The operations on a listener that only this crate uses.
pub trait Sealed {
    /// Returns the descriptor. A listener of tokio leaves its runtime.
    fn into_descriptor(self) -> io::Result<OwnedFd>;
}

impl Listener for TcpListener {
    type Addr = SocketAddr;

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.local_addr()
    }
}

impl Sealed for TcpListener {
    fn into_descriptor(self) -> io::Result<OwnedFd> {
        Ok(self.into())
    }
}

impl Listener for UnixListener {
    type Addr = std::os::unix::net::SocketAddr;

    fn local_addr(&self) -> io::Result<Self::Addr> {
        self.local_addr()
    }
}

impl Sealed for UnixListener {
    fn into_descriptor(self) -> io::Result<OwnedFd> {
        Ok(self.into())
    }
}

impl Listener for tokio::net::TcpListener {
    type Addr = SocketAddr;

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.local_addr()
    }
}

impl Sealed for tokio::net::TcpListener {
    fn into_descriptor(self) -> io::Result<OwnedFd> {
        Ok(self.into_std()?.into())
    }
}

impl Listener for tokio::net::UnixListener {
    type Addr = tokio::net::unix::SocketAddr;

    fn local_addr(&self) -> io::Result<Self::Addr> {
        self.local_addr()
    }
}

impl Sealed for tokio::net::UnixListener {
    fn into_descriptor(self) -> io::Result<OwnedFd> {
        Ok(self.into_std()?.into())
    }
}
