//! Addresses of stream sockets, and name resolution.

use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs, UdpSocket};
use std::path::PathBuf;

/// The address of a stream socket.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Address {
    /// TCP over IPv4 or IPv6.
    Tcp(SocketAddr),
    /// The path of a Unix socket.
    Unix(PathBuf),
}

impl Address {
    /// Returns the TCP address, `None` for a Unix socket.
    pub fn tcp(&self) -> Option<SocketAddr> {
        match self {
            Self::Tcp(address) => Some(*address),
            Self::Unix(_) => None,
        }
    }

    /// Returns whether `connect(2)` completes synchronously, which is so over loopback and Unix sockets.
    pub fn connects_at_once(&self) -> bool {
        self.tcp().is_none_or(|address| address.ip().is_loopback())
    }

    /// Returns whether the address belongs to this machine, so that `/proc` shows the process that listens there.
    pub fn is_local(&self) -> bool {
        self.tcp().is_none_or(|address| is_local(address.ip()))
    }
}

impl From<SocketAddr> for Address {
    fn from(address: SocketAddr) -> Self {
        Self::Tcp(address)
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => address.fmt(f),
            Self::Unix(path) => path.display().fmt(f),
        }
    }
}

/// Returns all addresses of a host without duplicates, in the resolver's order of preference. Blocks.
///
/// # Errors
/// If the resolution fails; [`io::ErrorKind::NotFound`] if the name has no address.
pub fn resolve(host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
    let mut addresses = Vec::new();
    for address in (host, port).to_socket_addrs()? {
        if !addresses.contains(&address) {
            addresses.push(address);
        }
    }
    if addresses.is_empty() {
        return Err(io::Error::new(io::ErrorKind::NotFound, "the name does not resolve to an address"));
    }
    Ok(addresses)
}

/// Returns whether an IP address belongs to this machine.
pub fn is_local(ip: IpAddr) -> bool {
    // Only an address of this machine can be bound. Nothing is sent.
    ip.is_loopback() || (!ip.is_unspecified() && UdpSocket::bind((ip, 0)).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literal_addresses_resolve_to_themselves() {
        assert_eq!(resolve("127.0.0.1", 80).unwrap(), ["127.0.0.1:80".parse().unwrap()]);
        assert_eq!(resolve("::1", 8080).unwrap(), ["[::1]:8080".parse().unwrap()]);
    }

    #[test]
    fn only_ones_own_addresses_are_local() {
        assert!(is_local("127.0.0.1".parse().unwrap()));
        assert!(is_local("::1".parse().unwrap()));
        assert!(!is_local("192.0.2.1".parse().unwrap()), "an address for documentation only");
    }
}
