//! The target's own UDP sockets, and the datagrams that the kernel has dropped there.

use super::netlink::Netlink;
use super::reading::DatagramSocketCounts;
use super::tcp::{UdpSocket, unconnected_udp};
use std::collections::HashMap;
use std::net::SocketAddr;

/// The most sockets whose drops are counted.
const SOCKETS: usize = 4096;

/// The drops of sockets, which may come and go.
#[derive(Debug, Default)]
pub(super) struct DatagramSockets {
    /// The drops of each socket when it was last seen, by cookie.
    last: HashMap<u64, u32>,
    dropped: u64,
}

impl DatagramSockets {
    /// Counts the drops since the last call of the sockets that `takes` accepts by local address. `None` without a socket.
    pub fn count(&mut self, netlink: &mut Netlink, takes: impl Fn(SocketAddr) -> bool) -> Option<DatagramSocketCounts> {
        let sockets: Vec<_> = unconnected_udp(netlink, takes).ok()?.into_iter().take(SOCKETS).collect();
        self.add(&sockets);
        let seen = !sockets.is_empty() || !self.last.is_empty();
        seen.then_some(DatagramSocketCounts { sockets: sockets.len(), dropped: self.dropped })
    }

    fn add(&mut self, sockets: &[UdpSocket]) {
        for socket in sockets {
            if self.last.len() < SOCKETS || self.last.contains_key(&socket.cookie) {
                let before = self.last.insert(socket.cookie, socket.dropped).unwrap_or(0);
                self.dropped += u64::from(socket.dropped.wrapping_sub(before));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::namespaces::Namespace;
    use super::*;
    use rustix::net::sockopt::set_socket_recv_buffer_size;

    #[test]
    fn drops_of_sockets_that_come_and_go_add_up() {
        let socket = |cookie, dropped| UdpSocket { cookie, dropped };
        let mut sockets = DatagramSockets::default();
        sockets.add(&[socket(1, 5), socket(2, u32::MAX)]);
        sockets.add(&[socket(1, 7), socket(3, 1)]);
        sockets.add(&[socket(2, 1)]);
        assert_eq!(sockets.dropped, 5 + u64::from(u32::MAX) + 2 + 1 + 2);
    }

    #[test]
    fn the_kernel_reports_the_drops_of_a_server() {
        let server = std::net::UdpSocket::bind("127.0.0.1:0").expect("a port is free");
        let address = server.local_addr().expect("it is bound");
        set_socket_recv_buffer_size(&server, 8192).expect("it can be set");
        let mut netlink = Netlink::open(Namespace::Own).expect("the kernel has it");
        let mut sockets = DatagramSockets::default();
        let mut count = || sockets.count(&mut netlink, |local| local == address);
        assert_eq!(count(), Some(DatagramSocketCounts { sockets: 1, dropped: 0 }));
        let client = std::net::UdpSocket::bind("127.0.0.1:0").expect("a port is free");
        for _ in 0..100 {
            client.send_to(&[7; 1000], address).expect("it is sent");
        }
        let dropped = count().expect("it is still there").dropped;
        assert!((50..100).contains(&dropped), "{dropped}");
        drop(server);
        assert_eq!(count(), Some(DatagramSocketCounts { sockets: 0, dropped }));
        assert_eq!(DatagramSockets::default().count(&mut netlink, |local| local == address), None);
    }
}
