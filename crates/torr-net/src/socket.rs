//! TCP sockets that never block.

use crate::Address;
use crate::defer::defer_accept;
use nix::sys::socket::setsockopt;
use nix::sys::socket::sockopt::IpBindAddressNoPort;
use rustix::io::Errno;
use rustix::net::sockopt::{self, set_tcp_nodelay};
use rustix::net::{self, AddressFamily, RecvFlags, SendFlags, SocketAddrUnix, SocketFlags, SocketType};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, OwnedFd};

fn tcp(addr: SocketAddr) -> io::Result<OwnedFd> {
    stream(if addr.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 })
}

fn stream(family: AddressFamily) -> io::Result<OwnedFd> {
    Ok(net::socket_with(family, SocketType::STREAM, SocketFlags::NONBLOCK | SocketFlags::CLOEXEC, None)?)
}

/// Begins to connect, from the given source address if there is one. Watch the socket: once it is writable, [`error`]
/// tells how it went.
///
/// The source's port is chosen only when the destination is known (`IP_BIND_ADDRESS_NO_PORT`), so that a port may serve
/// several destinations at a time.
///
/// Sending is not delayed to gather more (TCP_NODELAY), unless the caller knows that it sends once only, where there is
/// nothing to gather.
///
/// # Errors
/// As `socket(2)`, `bind(2)` and `connect(2)`; a refusal may be told here already.
/// [`io::ErrorKind::AddrNotAvailable`] means that no port is free, [`io::ErrorKind::WouldBlock`] that a Unix socket's
/// backlog is full.
pub fn connect(address: &Address, source: Option<IpAddr>, sends_once: bool) -> io::Result<OwnedFd> {
    match address {
        Address::Tcp(address) => connect_tcp(*address, source, sends_once),
        Address::Unix(path) => {
            let socket = stream(AddressFamily::UNIX)?;
            net::connect(&socket, &SocketAddrUnix::new(path)?)?;
            Ok(socket)
        }
    }
}

fn connect_tcp(addr: SocketAddr, source: Option<IpAddr>, sends_once: bool) -> io::Result<OwnedFd> {
    let socket = tcp(addr)?;
    if let Some(source) = source {
        setsockopt(&socket, IpBindAddressNoPort, &true)?;
        net::bind(&socket, &SocketAddr::new(source, 0))?;
    }
    match net::connect(&socket, &addr) {
        Ok(()) | Err(Errno::INPROGRESS) => {}
        Err(error) => return Err(error.into()),
    }
    if !sends_once {
        set_tcp_nodelay(&socket, true)?;
    }
    Ok(socket)
}

/// Takes an address without listening on it, so that nobody can connect there in the meantime. It fails where somebody
/// listens, also if they would share the port.
///
/// # Errors
/// As `socket(2)` and `bind(2)`.
pub fn reserve(addr: SocketAddr) -> io::Result<OwnedFd> {
    let socket = tcp(addr)?;
    sockopt::set_socket_reuseaddr(&socket, true)?;
    net::bind(&socket, &addr)?;
    Ok(socket)
}

/// A listener. With `share_port` several may listen on one address, and the kernel spreads connections over them.
/// What it accepts sends without delay (TCP_NODELAY is inherited).
///
/// With `deferred` a connection is there to be accepted only once its first bytes have come, or after about a second:
/// a server that talks second is woken once for a connection and its request, and not for each.
///
/// # Errors
/// As `socket(2)`, `bind(2)` and `listen(2)`.
pub fn listen(addr: SocketAddr, backlog: i32, share_port: bool, deferred: bool) -> io::Result<OwnedFd> {
    let socket = tcp(addr)?;
    sockopt::set_socket_reuseaddr(&socket, true)?;
    if share_port {
        sockopt::set_socket_reuseport(&socket, true)?;
    }
    set_tcp_nodelay(&socket, true)?;
    if deferred {
        defer_accept(&socket)?;
    }
    net::bind(&socket, &addr)?;
    net::listen(&socket, backlog)?;
    Ok(socket)
}

/// Makes a listener that somebody else has opened one as [`listen`] gives it.
///
/// # Errors
/// If it is no TCP socket that listens, and as `setsockopt(2)`.
pub fn adopt(listener: OwnedFd, deferred: bool) -> io::Result<OwnedFd> {
    let listens = sockopt::socket_type(&listener)? == SocketType::STREAM && sockopt::socket_acceptconn(&listener)?;
    if !listens || local_addr(&listener).is_err() {
        return Err(io::Error::other("not a TCP socket that listens"));
    }
    rustix::io::ioctl_fionbio(&listener, true)?;
    set_tcp_nodelay(&listener, true)?;
    if deferred {
        defer_accept(&listener)?;
    }
    Ok(listener)
}

/// Accepts one connection, with the address of its client. `None` if none waits, or the one that did has gone again.
///
/// # Errors
/// As `accept4(2)`; think of `EMFILE`.
#[inline]
pub fn accept(listener: impl AsFd) -> io::Result<Option<(OwnedFd, Option<SocketAddr>)>> {
    match net::acceptfrom_with(listener, SocketFlags::NONBLOCK | SocketFlags::CLOEXEC) {
        Ok((socket, peer)) => Ok(Some((socket, peer.and_then(|peer| peer.try_into().ok())))),
        Err(Errno::AGAIN | Errno::CONNABORTED | Errno::INTR) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// The address that a socket is bound to.
///
/// # Errors
/// As `getsockname(2)`.
pub fn local_addr(socket: impl AsFd) -> io::Result<SocketAddr> {
    net::getsockname(socket)?.try_into().map_err(|_| io::Error::other("not an internet socket"))
}

/// Whether the listener's own error is that the process or the machine has no descriptor left.
pub fn is_out_of_files(error: &io::Error) -> bool {
    [Errno::MFILE, Errno::NFILE, Errno::NOBUFS, Errno::NOMEM]
        .iter()
        .any(|e| error.raw_os_error() == Some(e.raw_os_error()))
}

/// The error that a socket holds, such as why its connect failed.
///
/// # Errors
/// That error.
pub fn error(socket: impl AsFd) -> io::Result<()> {
    Ok(sockopt::socket_error(socket)??)
}

/// Acknowledges what has been received at once, where the kernel would have waited for something to send along with it
/// (TCP_QUICKACK). It does not last: what comes next may be waited with again.
pub fn acknowledge(socket: impl AsFd) {
    // A socket that has no such thing, such as a Unix socket, waits with none.
    let _ = sockopt::set_tcp_quickack(socket, true);
}

/// Receives what has arrived: `Some(0)` is the end, `None` that nothing is there now.
///
/// # Errors
/// As `recv(2)`.
#[inline]
pub fn recv(socket: impl AsFd, buffer: &mut [u8]) -> io::Result<Option<usize>> {
    match net::recv(socket, buffer, RecvFlags::empty()) {
        Ok((_, n)) => Ok(Some(n)),
        Err(Errno::AGAIN | Errno::INTR) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Sends what fits the socket's buffer and returns how much that was; 0 if it is full.
///
/// # Errors
/// As `send(2)`.
#[inline]
pub fn send(socket: impl AsFd, bytes: &[u8]) -> io::Result<usize> {
    match net::send(socket, bytes, SendFlags::NOSIGNAL) {
        Ok(n) => Ok(n),
        Err(Errno::AGAIN | Errno::INTR) => Ok(0),
        Err(error) => Err(error.into()),
    }
}

/// Ends the sending side, so that the peer reads the end after all that was sent.
pub fn end_sending(socket: impl AsFd) {
    // A connection that is already gone needs no end.
    let _ = net::shutdown(socket, net::Shutdown::Write);
}
