//! From a name to the addresses behind it.

use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs, UdpSocket};

/// All addresses of a host, without repeats, in the order in which the resolver prefers them. Blocks.
///
/// # Errors
/// If the name does not resolve; [`io::ErrorKind::NotFound`] if it has no address.
pub fn resolve(host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
    let mut addresses = Vec::new();
    for address in (host, port).to_socket_addrs()? {
        if !addresses.contains(&address) {
            addresses.push(address);
        }
    }
    if addresses.is_empty() {
        return Err(io::Error::new(io::ErrorKind::NotFound, "the name has no address"));
    }
    Ok(addresses)
}

/// Whether an address is this machine's own, so that the process behind it can be looked at.
pub fn is_local(ip: IpAddr) -> bool {
    // Only an address of this machine can be bound to. Nothing is sent.
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
