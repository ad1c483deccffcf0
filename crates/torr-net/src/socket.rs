//! Non-blocking stream sockets.

use crate::Address;
use crate::defer::defer_accept;
use nix::sys::socket::sockopt::{IpBindAddressNoPort, PeerCredentials};
use nix::sys::socket::{getsockopt, setsockopt};
use rustix::fs::sendfile;
use rustix::io::Errno;
use rustix::net::sockopt::{self, set_tcp_nodelay};
use rustix::net::{
    self, AddressFamily, RecvFlags, SendAncillaryBuffer, SendFlags, SocketAddrUnix, SocketFlags, SocketType,
};
use std::ffi::OsString;
use std::io::{self, IoSlice};
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;

fn tcp(addr: SocketAddr) -> io::Result<OwnedFd> {
    stream(if addr.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 })
}

fn stream(family: AddressFamily) -> io::Result<OwnedFd> {
    Ok(net::socket_with(family, SocketType::STREAM, SocketFlags::NONBLOCK | SocketFlags::CLOEXEC, None)?)
}

/// Starts to connect, from the source address if one is given. Once the socket is writable, [`error`] returns the result.
///
/// The source port is chosen when the destination is known (`IP_BIND_ADDRESS_NO_PORT`), so that connections to several
/// destinations can share a port.
///
/// Nagle's algorithm is off (TCP_NODELAY), except with `sends_once`: a single send has nothing to wait for, and the system
/// call is saved.
///
/// # Errors
/// Returns the errors of `socket(2)`, `setsockopt(2)`, `bind(2)` and `connect(2)`. [`io::ErrorKind::AddrNotAvailable`] means
/// that no port is free, [`io::ErrorKind::WouldBlock`] that a Unix socket's backlog is full.
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

/// Binds an address without listening, so that connections are refused meanwhile. Fails where a socket listens, even with
/// SO_REUSEPORT.
///
/// # Errors
/// Returns the errors of `socket(2)`, `setsockopt(2)` and `bind(2)`.
pub fn reserve(addr: SocketAddr) -> io::Result<OwnedFd> {
    let socket = tcp(addr)?;
    sockopt::set_socket_reuseaddr(&socket, true)?;
    net::bind(&socket, &addr)?;
    Ok(socket)
}

/// Opens a listener, whose accepted sockets inherit TCP_NODELAY.
///
/// With `share_port` several listeners may share the address, and the kernel distributes connections over them
/// (SO_REUSEPORT). With `deferred` a connection enters the accept queue with its first bytes, or after about a second
/// (TCP_DEFER_ACCEPT): the server is woken once for connection and request.
///
/// # Errors
/// Returns the errors of `socket(2)`, `setsockopt(2)`, `bind(2)` and `listen(2)`.
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

/// Sets the options that [`listen`] sets on an inherited listener.
///
/// # Errors
/// If the descriptor is not a listening TCP or Unix stream socket, and as `setsockopt(2)`.
pub fn adopt(listener: OwnedFd, deferred: bool) -> io::Result<OwnedFd> {
    let listens = sockopt::socket_type(&listener)? == SocketType::STREAM && sockopt::socket_acceptconn(&listener)?;
    if !listens {
        return Err(io::Error::other("not a listening TCP or Unix socket"));
    }
    let address = local_address(&listener)?;
    rustix::io::ioctl_fionbio(&listener, true)?;
    if address.tcp().is_none() {
        return Ok(listener);
    }
    set_tcp_nodelay(&listener, true)?;
    if deferred {
        defer_accept(&listener)?;
    }
    Ok(listener)
}

/// Accepts one connection, and returns it with the client's address. `None` if the queue is empty, or the connection was
/// aborted in the queue.
///
/// # Errors
/// Returns the errors of `accept4(2)`, notably `EMFILE`, except `EAGAIN`, `ECONNABORTED` and `EINTR`.
#[inline]
pub fn accept(listener: impl AsFd) -> io::Result<Option<(OwnedFd, Option<SocketAddr>)>> {
    match net::acceptfrom_with(listener, SocketFlags::NONBLOCK | SocketFlags::CLOEXEC) {
        Ok((socket, peer)) => Ok(Some((socket, peer.and_then(|peer| peer.try_into().ok())))),
        Err(Errno::AGAIN | Errno::CONNABORTED | Errno::INTR) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Returns the address that a socket is bound to.
///
/// # Errors
/// Returns the errors of `getsockname(2)`, and an error for a socket that is not of an IP family.
pub fn local_addr(socket: impl AsFd) -> io::Result<SocketAddr> {
    net::getsockname(socket)?.try_into().map_err(|_| io::Error::other("not an internet socket"))
}

/// Returns the address that a TCP or Unix socket is bound to. An abstract name begins with `@`; a Unix socket without a name has
/// an empty path.
///
/// # Errors
/// Returns the errors of `getsockname(2)`, and an error for a socket that is neither TCP nor Unix.
pub fn local_address(socket: impl AsFd) -> io::Result<Address> {
    let address = net::getsockname(socket)?;
    if let Ok(address) = SocketAddr::try_from(address.clone()) {
        return Ok(Address::Tcp(address));
    }
    let unix = SocketAddrUnix::try_from(address).map_err(|_| io::Error::other("not a TCP or Unix socket"))?;
    let path = unix.path_bytes().map(|path| path.strip_suffix(&[0]).unwrap_or(path).to_vec());
    let name = || unix.abstract_name().map(|name| [b"@", name].concat());
    Ok(Address::Unix(OsString::from_vec(path.or_else(name).unwrap_or_default()).into()))
}

/// The process at the other end of a Unix socket when it connected (SO_PEERCRED, `unix(7)`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Credentials {
    /// The process; `None` if it is in a PID namespace that this process does not see.
    pub pid: Option<u32>,
    /// The effective user of the process.
    pub uid: u32,
    /// The effective group of the process.
    pub gid: u32,
}

/// Returns the credentials of a Unix socket's peer.
///
/// # Errors
/// Returns the errors of `getsockopt(2)`, such as for a socket of another family.
pub fn peer_credentials(socket: impl AsFd) -> io::Result<Credentials> {
    let peer = getsockopt(&socket, PeerCredentials)?;
    let pid = u32::try_from(peer.pid()).ok().filter(|pid| *pid > 0);
    Ok(Credentials { pid, uid: peer.uid(), gid: peer.gid() })
}

/// Returns whether an error of [`accept`] means that the process or the machine is out of descriptors or memory.
pub fn is_out_of_files(error: &io::Error) -> bool {
    [Errno::MFILE, Errno::NFILE, Errno::NOBUFS, Errno::NOMEM]
        .iter()
        .any(|e| error.raw_os_error() == Some(e.raw_os_error()))
}

/// Takes the pending error of a socket (SO_ERROR), such as that of a failed connect.
///
/// # Errors
/// The pending error.
pub fn error(socket: impl AsFd) -> io::Result<()> {
    Ok(sockopt::socket_error(socket)??)
}

/// Sends a pending acknowledgement at once (TCP_QUICKACK). The kernel may delay later acknowledgements again.
pub fn acknowledge(socket: impl AsFd) {
    // A Unix socket has no such option, and delays nothing.
    let _ = sockopt::set_tcp_quickack(socket, true);
}

/// Receives available bytes. `Some(0)` is the end of the stream, `None` that no bytes are available.
///
/// # Errors
/// Returns the errors of `recv(2)`, except `EAGAIN` and `EINTR`.
#[inline]
pub fn recv(socket: impl AsFd, buffer: &mut [u8]) -> io::Result<Option<usize>> {
    match net::recv(socket, buffer, RecvFlags::empty()) {
        Ok((_, n)) => Ok(Some(n)),
        Err(Errno::AGAIN | Errno::INTR) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Sends as much as the send buffer takes, and returns the number of bytes; 0 if the buffer is full.
///
/// # Errors
/// Returns the errors of `send(2)`, except `EAGAIN` and `EINTR`.
#[inline]
pub fn send(socket: impl AsFd, bytes: &[u8]) -> io::Result<usize> {
    taken(net::send(socket, bytes, SendFlags::NOSIGNAL))
}

/// Sends as [`send`] does, and lets the kernel wait for what follows at once to fill a segment.
///
/// # Errors
/// As [`send`].
pub fn send_first(socket: impl AsFd, bytes: &[u8]) -> io::Result<usize> {
    taken(net::send(socket, bytes, SendFlags::NOSIGNAL | SendFlags::MORE))
}

/// Sends as much of a file as the send buffer takes, from `offset` on and at most so many bytes, and returns the number of bytes; 0 if
/// the buffer is full. Nothing is copied into the memory of the program. The program has to ignore `SIGPIPE`, as those in Rust do: there
/// is no flag against it here.
///
/// # Errors
/// Returns the errors of `sendfile(2)`, except `EAGAIN` and `EINTR`, and [`io::ErrorKind::UnexpectedEof`] if the file has nothing more.
pub fn send_file(socket: impl AsFd, file: impl AsFd, offset: u64, most: usize) -> io::Result<usize> {
    let mut offset = offset;
    match sendfile(socket, file, Some(&mut offset), most) {
        Ok(0) if most > 0 => Err(io::ErrorKind::UnexpectedEof.into()),
        sent => taken(sent),
    }
}

/// Sends as much of several pieces as the send buffer takes, in their order, and returns the number of bytes; 0 if the buffer
/// is full.
///
/// # Errors
/// Returns the errors of `sendmsg(2)`, except `EAGAIN` and `EINTR`.
pub fn send_all_of(socket: impl AsFd, pieces: &[IoSlice<'_>]) -> io::Result<usize> {
    taken(net::sendmsg(socket, pieces, &mut SendAncillaryBuffer::default(), SendFlags::NOSIGNAL))
}

/// Returns how many bytes the send buffer has taken; 0 if it is full, or a signal came first.
#[inline]
fn taken(sent: rustix::io::Result<usize>) -> io::Result<usize> {
    match sent {
        Ok(n) => Ok(n),
        Err(Errno::AGAIN | Errno::INTR) => Ok(0),
        Err(error) => Err(error.into()),
    }
}

/// Shuts down the sending side, so that the peer reads the end of the stream after the bytes sent.
pub fn end_sending(socket: impl AsFd) {
    // A connection that is already closed needs no end.
    let _ = net::shutdown(socket, net::Shutdown::Write);
}
