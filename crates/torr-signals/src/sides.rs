//! The peers' side of connections: how many a peer has accepted, how many wait for it.

use super::holders::takes;
use super::tcp::TcpSocket;
use super::unix::UnixSocket;
use std::collections::{BTreeMap, HashMap};
use std::net::SocketAddr;

/// The connections of all clients of a service on this machine, in one sample.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Side {
    /// Connections that the service has accepted.
    pub accepted: u64,
    /// Those of them with bytes that the service has not read.
    pub unread: u64,
    /// The accept queue of each listener: its length and its backlog.
    pub queues: Vec<(u32, u32)>,
}

/// Returns the sides of the services at these addresses, as far as their listeners are visible.
pub(super) fn sides<'a>(
    addresses: impl Iterator<Item = &'a str>,
    sockets: &[TcpSocket],
    unix: &[UnixSocket],
) -> BTreeMap<String, Side> {
    let (mut over_tcp, mut over_unix) = (HashMap::<SocketAddr, Side>::new(), HashMap::<&str, Side>::new());
    for text in addresses {
        match text.parse::<SocketAddr>() {
            Ok(address) => {
                let listeners = sockets.iter().filter(|s| s.listens && takes(s.local, address));
                let queues: Vec<_> = listeners.map(|listener| (listener.unread, listener.unsent)).collect();
                if !queues.is_empty() {
                    over_tcp.insert(address, Side { queues, ..Side::default() });
                }
            }
            Err(_) => {
                let listeners = unix.iter().filter(|s| s.listens && s.path.as_deref() == Some(text));
                let queues: Vec<_> = listeners.map(|listener| (listener.unread, listener.unsent)).collect();
                if !queues.is_empty() {
                    over_unix.insert(text, Side { queues, ..Side::default() });
                }
            }
        }
    }
    // A connection without an inode is in the accept queue.
    for socket in sockets.iter().filter(|socket| !socket.listens && socket.inode != 0) {
        if let Some(side) = over_tcp.get_mut(&socket.local) {
            side.accepted += 1;
            side.unread += u64::from(socket.unread > 0);
        }
    }
    for socket in unix.iter().filter(|socket| !socket.listens && socket.inode != 0) {
        if let Some(side) = socket.path.as_deref().and_then(|path| over_unix.get_mut(path)) {
            side.accepted += 1;
            side.unread += u64::from(socket.unread > 0);
        }
    }
    let over_tcp = over_tcp.into_iter().map(|(address, side)| (address.to_string(), side));
    over_tcp.chain(over_unix.into_iter().map(|(path, side)| (path.to_owned(), side))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tcp(listens: bool, local: &str, inode: u64, unread: u32) -> TcpSocket {
        let unsent = if listens { 16 } else { 0 };
        let remote = "127.0.0.1:40000".parse().expect("an address");
        let local = local.parse().expect("an address");
        TcpSocket { listens, local, remote, cookie: 0, inode, unread, unsent, info: None }
    }

    #[test]
    fn connections_are_accepted_unread_or_in_the_accept_queue() {
        let sockets = [
            tcp(true, "0.0.0.0:9000", 1, 3),
            tcp(false, "127.0.0.1:9000", 2, 0),
            tcp(false, "127.0.0.1:9000", 3, 80),
            tcp(false, "127.0.0.1:9000", 0, 80),
            tcp(false, "127.0.0.1:9001", 4, 80),
        ];
        let unix = |listens, inode, unread| UnixSocket {
            listens,
            inode,
            path: Some("/run/fpm.sock".into()),
            peer: 0,
            unread,
            unsent: if listens { 24 } else { 0 },
        };
        let unix = [unix(true, 9, 2), unix(false, 10, 5), unix(false, 0, 5)];
        let addresses = ["127.0.0.1:9000", "127.0.0.1:9001", "/run/fpm.sock", "/run/other.sock"];
        let found = sides(addresses.into_iter(), &sockets, &unix);
        let expected = [
            ("/run/fpm.sock".to_owned(), Side { accepted: 1, unread: 1, queues: vec![(2, 24)] }),
            ("127.0.0.1:9000".to_owned(), Side { accepted: 2, unread: 1, queues: vec![(3, 16)] }),
        ];
        assert_eq!(found, BTreeMap::from(expected), "what has no visible listener is unknown");
    }
}
