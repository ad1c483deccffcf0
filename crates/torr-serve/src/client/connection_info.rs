//! The two ends of a connection, from the kernel.

use std::net::SocketAddr;
use std::os::fd::AsFd;
use torr_net::socket::{self, Credentials};

/// The two ends of a connection, for [`App::connection_as`](crate::App::connection_as).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConnectionInfo {
    /// The address of the peer, which is the client or a proxy in front of the server. `None` on a Unix socket.
    pub peer: Option<SocketAddr>,
    /// The address of the server to which the peer has connected. `None` on a Unix socket.
    pub local: Option<SocketAddr>,
    /// The process at the other end of a Unix socket. `None` over TCP.
    pub unix_peer: Option<UnixPeer>,
}

/// The process at the other end of a Unix socket when it connected (SO_PEERCRED, `unix(7)`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnixPeer {
    /// The process id; `None` if the process is in a PID namespace that the server does not see.
    pub pid: Option<u32>,
    /// The effective user of the process.
    pub uid: u32,
    /// The effective group of the process.
    pub gid: u32,
}

impl ConnectionInfo {
    /// Asks the kernel for the ends of an accepted connection. The client may have gone: then an end is missing.
    pub(crate) fn of(socket: impl AsFd, peer: Option<SocketAddr>) -> Self {
        let local = peer.and_then(|_| socket::local_addr(&socket).ok());
        let credentials = if peer.is_none() { socket::peer_credentials(&socket).ok() } else { None };
        let unix_peer = credentials.map(|Credentials { pid, uid, gid }| UnixPeer { pid, uid, gid });
        Self { peer, local, unix_peer }
    }
}
