//! All connections to one database, from the packets of a capture.

use super::conversation::Conversation;
use super::database::Database;
use super::packet;
use super::tally::Tallies;
use super::wire::{Catalogue, Completed, Fault};
use std::collections::{HashMap, HashSet};
use std::net::SocketAddr;

/// The most connections at one time. Further ones are not followed.
const CONNECTIONS: usize = 4096;

/// The connections to one database.
#[derive(Debug)]
pub(super) struct Tracker {
    database: Database,
    server: SocketAddr,
    /// By the client's address, then the server's.
    conversations: HashMap<(SocketAddr, SocketAddr), Conversation>,
    /// The counts of connections that have ended, by the client's address.
    ended: HashMap<SocketAddr, Tallies>,
    /// Room for the statements that one segment completes.
    completed: Vec<Completed>,
    /// The texts.
    pub(super) catalogue: Catalogue,
    /// The reasons why connections were given up.
    pub(super) faults: HashMap<Fault, u64>,
    /// The connections that were not followed because there were too many.
    pub(super) refused: u64,
    /// The packets with a segment of the database.
    pub(super) segments: u64,
}

impl Tracker {
    pub(super) fn new(database: Database, server: SocketAddr) -> Self {
        Self {
            database,
            server: SocketAddr::new(server.ip().to_canonical(), server.port()),
            conversations: HashMap::new(),
            ended: HashMap::new(),
            completed: Vec::new(),
            catalogue: Catalogue::default(),
            faults: HashMap::new(),
            refused: 0,
            segments: 0,
        }
    }

    /// Takes a packet that begins with its IP header, sent or received at this time in nanoseconds.
    pub(super) fn packet(&mut self, packet: &[u8], at: u64) {
        let Some(segment) = packet::segment(packet) else { return };
        let is_client = segment.to == self.server;
        if !is_client && segment.from != self.server {
            return;
        }
        self.segments += 1;
        let key = if is_client { (segment.from, segment.to) } else { (segment.to, segment.from) };
        let opens = is_client && segment.opens;
        if opens {
            self.end(key);
        }
        if !self.conversations.contains_key(&key) {
            if segment.payload.is_empty() && !opens {
                return;
            }
            if self.conversations.len() >= CONNECTIONS {
                self.refused += 1;
                return;
            }
        }
        let conversation = self.conversations.entry(key).or_insert_with(|| Conversation::new(self.database, &segment));
        let had_fault = conversation.fault().is_some();
        conversation.segment(&segment, is_client, at, &mut self.catalogue, &mut self.completed);
        if let Some(fault) = conversation.fault().filter(|_| !had_fault) {
            *self.faults.entry(fault).or_default() += 1;
        }
        if conversation.has_ended() {
            self.end(key);
        }
    }

    /// Forgets a connection, and keeps its counts.
    fn end(&mut self, key: (SocketAddr, SocketAddr)) {
        if let Some(mut conversation) = self.conversations.remove(&key) {
            // There are as many clients' addresses as ports of a machine, at most.
            if self.ended.len() < 16 * CONNECTIONS || self.ended.contains_key(&key.0) {
                conversation.settle(self.ended.entry(key.0).or_default());
            }
        }
    }

    /// Returns the counts of all connections whose client is accepted, and the number of these connections.
    ///
    /// `own` are the addresses of the service's sockets, `foreign` those of others. A connection that was too short to be seen
    /// among either is the service's if no other client has any.
    pub(super) fn totals(&mut self, own: &HashSet<SocketAddr>, foreign: &HashSet<SocketAddr>) -> (Tallies, u64) {
        let keys: Vec<_> = self.conversations.keys().copied().collect();
        for key in keys {
            self.end(key);
        }
        let is_own = |client: &SocketAddr| own.contains(client) || foreign.is_empty();
        let mut totals = Tallies::default();
        let mut connections = 0;
        for (_, tallies) in self.ended.iter_mut().filter(|(client, _)| is_own(client)) {
            totals.take(tallies);
            connections += 1;
        }
        (totals, connections)
    }
}
