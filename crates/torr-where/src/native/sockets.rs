//! Descriptors that threads wait for: connections of clients, of peers, files and pipes.

use crate::stack::WaitKind;
use std::collections::{HashMap, HashSet};
use std::fs;
use std::time::{Duration, Instant};

/// The time after which the lists of sockets are read again.
const REFRESH: Duration = Duration::from_millis(500);
/// The most sockets of a namespace that are kept.
const SOCKETS: usize = 200_000;
/// The state of a listener in the kernel's lists.
const LISTEN: &str = "0A";

/// The sockets that a process sees.
#[derive(Debug, Default)]
pub struct Sockets {
    read: Option<Instant>,
    /// The peer by inode. `None` of a connection that was accepted.
    peers: HashMap<u64, Option<String>>,
}

impl Sockets {
    /// Classifies a wait for a descriptor: a connection of a client is waited for by an idle worker.
    pub fn wait(&mut self, process: i32, descriptor: i32) -> WaitKind {
        let Ok(link) = fs::read_link(format!("/proc/{process}/fd/{descriptor}")) else { return WaitKind::Other };
        let link = link.to_string_lossy();
        if let Some(inode) = link.strip_prefix("socket:[").and_then(|rest| rest.strip_suffix(']')) {
            let Ok(inode) = inode.parse() else { return WaitKind::Other };
            if self.is_accepted(process, inode) {
                return WaitKind::Idle;
            }
            return WaitKind::Socket { descriptor, inode };
        }
        // A pipe or an event leads to another thread or process, which has something for this one.
        if link.starts_with("pipe:[") || link.starts_with("anon_inode:") { WaitKind::Condition } else { WaitKind::File }
    }

    /// Returns the peer of a socket: an address, or the path of a Unix socket.
    pub fn peer(&self, inode: u64) -> Option<&str> {
        self.peers.get(&inode)?.as_deref()
    }

    /// Returns whether a connection was accepted by the process's network namespace: its local port has a listener.
    fn is_accepted(&mut self, process: i32, inode: u64) -> bool {
        let is_due = self.read.is_none_or(|read| read.elapsed() >= REFRESH);
        if is_due || (!self.peers.contains_key(&inode) && self.read.is_none_or(|read| read.elapsed() >= REFRESH / 10)) {
            self.refresh(process);
        }
        self.peers.get(&inode).is_some_and(Option::is_none)
    }

    fn refresh(&mut self, process: i32) {
        self.peers.clear();
        for version in ["tcp", "tcp6"] {
            let text = fs::read_to_string(format!("/proc/{process}/net/{version}")).unwrap_or_default();
            let lines: Vec<Vec<&str>> =
                text.lines().skip(1).take(SOCKETS).map(|line| line.split_whitespace().collect()).collect();
            let port = |address: &str| address.rsplit_once(':').map(|(_, port)| port.to_owned());
            let listening: HashSet<_> = lines
                .iter()
                .filter(|words| words.get(3) == Some(&LISTEN))
                .filter_map(|words| port(words.get(1)?))
                .collect();
            for words in &lines {
                let (Some(local), Some(remote), Some(inode)) = (words.get(1), words.get(2), words.get(9)) else {
                    continue;
                };
                let Ok(inode) = inode.parse() else { continue };
                let is_accepted = port(local).is_some_and(|port| listening.contains(&port));
                self.peers.insert(inode, (!is_accepted).then(|| address(remote)));
            }
        }
        // A Unix socket that was accepted has its listener's path; the other end has none.
        let text = fs::read_to_string(format!("/proc/{process}/net/unix")).unwrap_or_default();
        for words in text.lines().skip(1).take(SOCKETS).map(|line| line.split_whitespace().collect::<Vec<_>>()) {
            let Some(Ok(inode)) = words.get(6).map(|inode| inode.parse()) else { continue };
            self.peers.insert(inode, words.get(7).is_none().then(|| "unix".to_owned()));
        }
        self.read = Some(Instant::now());
    }
}

/// Returns the kernel's hexadecimal address in its usual form.
fn address(hex: &str) -> String {
    let Some((host, port)) = hex.split_once(':') else { return hex.to_owned() };
    let port = u16::from_str_radix(port, 16).unwrap_or(0);
    let words: Vec<u32> =
        (0..host.len() / 8).filter_map(|word| u32::from_str_radix(&host[word * 8..][..8], 16).ok()).collect();
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
    if let Ok(four) = <[u8; 4]>::try_from(bytes.as_slice()) {
        return std::net::SocketAddr::from((four, port)).to_string();
    }
    let Ok(sixteen) = <[u8; 16]>::try_from(bytes.as_slice()) else { return hex.to_owned() };
    std::net::SocketAddr::from((std::net::Ipv6Addr::from(sixteen).to_canonical(), port)).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{TcpListener, TcpStream};
    use std::os::fd::AsRawFd;

    #[test]
    fn addresses_have_their_usual_form() {
        assert_eq!(address("0100007F:1538"), "127.0.0.1:5432");
        assert_eq!(address("00000000000000000000000001000000:0050"), "[::1]:80");
    }

    #[test]
    fn a_connection_that_was_accepted_is_idle_and_one_to_a_peer_is_not() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("there is a free port");
        let address = listener.local_addr().expect("it is bound");
        let client = TcpStream::connect(address).expect("it listens");
        let (accepted, _) = listener.accept().expect("there is a connection");
        let mut sockets = Sockets::default();
        let own = std::process::id() as i32;
        assert_eq!(sockets.wait(own, accepted.as_raw_fd()), WaitKind::Idle);
        let WaitKind::Socket { inode, .. } = sockets.wait(own, client.as_raw_fd()) else { panic!("it is a socket") };
        assert_eq!(sockets.peer(inode), Some(address.to_string().as_str()));
    }
}
