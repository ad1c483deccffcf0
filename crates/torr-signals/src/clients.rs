//! Counts of the target's listeners and accepted connections, by samples.

use super::reading::{ClientCounts, ListenerCounts};
use super::tcp::{Limits, TcpSocket};
use super::unix::UnixSocket;
use std::collections::{BTreeMap, HashMap};

/// The counts of listeners and accepted connections.
#[derive(Debug, Default)]
pub(super) struct Clients {
    listeners: BTreeMap<String, ListenerCounts>,
    counts: ClientCounts,
    /// The send limits of the connections of the sample before, by cookie; `None` before the first sample.
    limits: Option<HashMap<u64, Limits>>,
}

impl Clients {
    /// Adds a sample of TCP: the target's listeners, and the connections that a process has accepted.
    pub fn add(&mut self, listeners: &[&TcpSocket], accepted: &[&TcpSocket]) {
        self.add_listeners(listeners.iter().map(|socket| (socket.local.to_string(), socket.unread, socket.unsent)));
        self.add_queues(accepted.iter().map(|socket| (socket.unread, socket.unsent)));
        let counts = &mut self.counts;
        for info in accepted.iter().filter_map(|socket| socket.info).filter(|info| info.rtt > 0) {
            counts.rtt_us_sum += u64::from(info.rtt);
            counts.rtt_count += 1;
        }
        let least = accepted.iter().filter_map(|socket| socket.info?.min_rtt).min();
        least.into_iter().for_each(|rtt| counts.min_rtt_us.add(rtt));
        self.add_limits(accepted);
    }

    /// Adds a sample of Unix sockets, for a target that is one.
    pub fn add_unix(&mut self, sockets: &[UnixSocket], target: &str) {
        let here = || sockets.iter().filter(|socket| socket.path.as_deref() == Some(target));
        let listeners = here().filter(|socket| socket.listens);
        self.add_listeners(listeners.map(|socket| (target.to_owned(), socket.unread, socket.unsent)));
        // A connection without an inode is in the accept queue.
        let accepted = here().filter(|socket| !socket.listens && socket.inode != 0);
        self.add_queues(accepted.map(|socket| (socket.unread, socket.unsent)));
    }

    /// Counts connections by their queues of unread and unsent bytes.
    fn add_queues(&mut self, accepted: impl Iterator<Item = (u32, u32)>) {
        for (unread, unsent) in accepted {
            self.counts.established_sum += 1;
            self.counts.unread_sum += u64::from(unread > 0);
            self.counts.unsent_sum += u64::from(unsent > 0);
        }
    }

    /// Counts listeners: address, length of the accept queue, and backlog.
    fn add_listeners(&mut self, listeners: impl Iterator<Item = (String, u32, u32)>) {
        self.listeners.values_mut().for_each(|listener| listener.sockets = 0);
        for (address, queued, backlog) in listeners {
            let listener = self
                .listeners
                .entry(address)
                .or_insert_with_key(|address| ListenerCounts { address: address.clone(), ..ListenerCounts::default() });
            listener.sockets += 1;
            listener.count(queued, backlog);
        }
    }

    fn add_limits(&mut self, accepted: &[&TcpSocket]) {
        let limits = |socket: &&TcpSocket| Some((socket.cookie, socket.info?.limits?));
        let now: HashMap<u64, Limits> = accepted.iter().filter_map(limits).collect();
        // New connections count from 0. Those of the first sample count from their values in it.
        if let Some(before) = self.limits.replace(now) {
            for (cookie, now) in self.limits.iter().flatten() {
                let then = before.get(cookie).copied().unwrap_or_default();
                *self.counts.busy_us.get_or_insert_default() += now.busy.saturating_sub(then.busy);
                let limited = (now.window + now.buffer).saturating_sub(then.window + then.buffer);
                self.counts.limited_us += limited;
            }
        }
    }

    /// Returns the counts so far.
    pub fn counts(&self) -> (Vec<ListenerCounts>, ClientCounts) {
        (self.listeners.values().cloned().collect(), self.counts.clone())
    }
}

impl ListenerCounts {
    /// Counts the length of a listener's accept queue in a sample.
    pub(super) fn count(&mut self, queued: u32, backlog: u32) {
        self.backlog = Some(backlog);
        self.queued_sum += u64::from(queued);
        self.queued.add(queued);
    }
}
