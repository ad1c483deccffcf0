//! Sockets of servers that do not speak HTTP.

use std::net::{SocketAddr, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;

/// The socket of a service.
pub enum Socket {
    Tcp(SocketAddr),
    Unix(PathBuf),
}

impl Socket {
    /// Whether the socket takes a connection.
    pub fn is_open(&self) -> bool {
        match self {
            Self::Tcp(address) => TcpStream::connect(address).is_ok(),
            Self::Unix(path) => UnixStream::connect(path).is_ok(),
        }
    }
}
