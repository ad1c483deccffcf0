//! Counts the connections that the server's processes have opened to others, sample by sample.

use super::reading::{ListenerCounts, PeerCounts};
use super::sides::Side;
use super::tcp::TcpSocket;
use std::collections::{BTreeMap, HashMap};

/// The most peers that are counted separately. A server that connects to more addresses has no small set of upstream
/// services.
pub(super) const PEERS: usize = 256;

/// The counts of peers, by the other side's address. At most [`PEERS`] are counted.
#[derive(Debug, Default)]
pub(super) struct Peers(BTreeMap<String, Peer>);

#[derive(Debug, Default)]
struct Peer {
    counts: PeerCounts,
    /// The connections of the last sample, by what the kernel calls them, and how far they had got.
    seen: HashMap<u64, Progress>,
}

#[derive(Debug, Clone, Copy)]
struct Progress {
    sends: Option<u32>,
    bytes: Option<u64>,
}

/// One connection of a sample.
#[derive(Debug)]
pub(super) struct Link {
    pub address: String,
    /// Tells it apart from others.
    pub id: u64,
    pub waiting: Option<bool>,
    rtt: u32,
    progress: Progress,
}

impl Link {
    /// A connection over TCP.
    pub fn tcp(socket: &TcpSocket) -> Self {
        let info = socket.info.as_ref();
        let progress = Progress {
            sends: info.and_then(|info| info.data_segments_sent),
            bytes: info.and_then(|info| info.bytes_received),
        };
        Self {
            address: socket.remote.to_string(),
            id: socket.cookie,
            waiting: info.map(|info| info.awaits_response(socket.unsent)),
            rtt: info.map_or(0, |info| info.rtt),
            progress,
        }
    }

    /// A connection over a Unix socket, of which the kernel counts nothing.
    pub fn unix(address: String, id: u64) -> Self {
        Self { address, id, waiting: None, rtt: 0, progress: Progress { sends: None, bytes: None } }
    }
}

impl Peers {
    /// Counts a sample.
    pub fn add(&mut self, links: Vec<Link>) {
        let mut by_address: BTreeMap<String, Vec<Link>> = BTreeMap::new();
        links.into_iter().for_each(|link| by_address.entry(link.address.clone()).or_default().push(link));
        for address in by_address.keys() {
            if self.0.len() < PEERS && !self.0.contains_key(address) {
                let counts = PeerCounts { address: address.clone(), ..PeerCounts::default() };
                self.0.insert(address.clone(), Peer { counts, ..Peer::default() });
            }
        }
        for (address, peer) in &mut self.0 {
            peer.add(by_address.remove(address).unwrap_or_default());
        }
    }

    /// Counts the peers' side of a sample, by address.
    pub fn add_sides(&mut self, sides: &BTreeMap<String, Side>) {
        for (address, side) in sides {
            let Some(peer) = self.0.get_mut(address) else { continue };
            *peer.counts.accepted_sum.get_or_insert_default() += side.accepted;
            *peer.counts.unread_sum.get_or_insert_default() += side.unread;
            let named = || ListenerCounts { address: address.clone(), ..ListenerCounts::default() };
            let listener = peer.counts.listener.get_or_insert_with(named);
            listener.sockets = side.queues.len();
            side.queues.iter().for_each(|&(queued, backlog)| listener.count(queued, backlog));
        }
    }

    /// Returns the addresses of the peers so far.
    pub fn addresses(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    pub fn counts(&self) -> Vec<PeerCounts> {
        self.0.values().map(|peer| peer.counts.clone()).collect()
    }
}

impl Peer {
    fn add(&mut self, links: Vec<Link>) {
        let counts = &mut self.counts;
        counts.connections_sum += links.len() as u64;
        counts.connections.add(links.len() as u32);
        counts.candidates += self.seen.len() as u64;
        for link in &links {
            if let Some(waiting) = link.waiting {
                *counts.waiting_sum.get_or_insert_default() += u64::from(waiting);
            }
            if link.rtt > 0 {
                counts.rtt_us_sum += u64::from(link.rtt);
                counts.rtt_count += 1;
            }
            let Some(before) = self.seen.get(&link.id) else { continue };
            counts.kept += 1;
            if let (Some(now), Some(then)) = (link.progress.sends, before.sends) {
                *counts.sends.get_or_insert_default() += u64::from(now.wrapping_sub(then));
            }
            if let (Some(now), Some(then)) = (link.progress.bytes, before.bytes) {
                *counts.bytes.get_or_insert_default() += now.saturating_sub(then);
            }
        }
        self.seen = links.iter().map(|link| (link.id, link.progress)).collect();
    }
}
