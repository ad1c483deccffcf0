//! Counts the target's listeners and the connections that were accepted there, sample by sample.

use super::reading::{ClientCounts, ListenerCounts};
use super::tcp::{Limits, TcpSocket};
use super::unix::UnixSocket;
use std::collections::{BTreeMap, HashMap};

/// What has been counted.
#[derive(Debug, Default)]
pub(super) struct Clients {
    listeners: BTreeMap<String, ListenerCounts>,
    counts: ClientCounts,
    /// How far the connections of the sample before had got; `None` before the first.
    limits: Option<HashMap<u64, Limits>>,
}

impl Clients {
    /// Counts a sample: the target's listeners, and the connections that a process has accepted.
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

    /// The same, where the target is a Unix socket.
    pub fn add_unix(&mut self, sockets: &[UnixSocket], target: &str) {
        let here = || sockets.iter().filter(|socket| socket.path.as_deref() == Some(target));
        let listeners = here().filter(|socket| socket.listens);
        self.add_listeners(listeners.map(|socket| (target.to_owned(), socket.unread, socket.unsent)));
        // One without an inode waits in the listener's queue.
        let accepted = here().filter(|socket| !socket.listens && socket.inode != 0);
        self.add_queues(accepted.map(|socket| (socket.unread, socket.unsent)));
    }

    /// Counts connections by what waits in them.
    fn add_queues(&mut self, accepted: impl Iterator<Item = (u32, u32)>) {
        for (unread, unsent) in accepted {
            self.counts.established_sum += 1;
            self.counts.unread_sum += u64::from(unread > 0);
            self.counts.unsent_sum += u64::from(unsent > 0);
        }
    }

    /// Counts listeners: address, how many wait, and how many may.
    fn add_listeners(&mut self, listeners: impl Iterator<Item = (String, u32, u32)>) {
        self.listeners.values_mut().for_each(|listener| listener.sockets = 0);
        for (address, queued, backlog) in listeners {
            let listener = self
                .listeners
                .entry(address)
                .or_insert_with_key(|address| ListenerCounts { address: address.clone(), ..ListenerCounts::default() });
            listener.sockets += 1;
            listener.backlog = Some(backlog);
            listener.queued_sum += u64::from(queued);
            listener.queued.add(queued);
        }
    }

    fn add_limits(&mut self, accepted: &[&TcpSocket]) {
        let limits = |socket: &&TcpSocket| Some((socket.cookie, socket.info?.limits?));
        let now: HashMap<u64, Limits> = accepted.iter().filter_map(limits).collect();
        // Of connections that are new since the last sample, all counts. Of those that were there at the first, nothing.
        if let Some(before) = self.limits.replace(now) {
            for (cookie, now) in self.limits.iter().flatten() {
                let then = before.get(cookie).copied().unwrap_or_default();
                *self.counts.busy_us.get_or_insert_default() += now.busy.saturating_sub(then.busy);
                let limited = (now.window + now.buffer).saturating_sub(then.window + then.buffer);
                self.counts.limited_us += limited;
            }
        }
    }

    /// What has been counted up to now.
    pub fn counts(&self) -> (Vec<ListenerCounts>, ClientCounts) {
        (self.listeners.values().cloned().collect(), self.counts.clone())
    }
}
