//! The datagrams of a run over QUIC.

use crate::bounds::{Bounded, OutOfBounds, at_most};
use serde::{Deserialize, Serialize};

/// The receive buffer that each socket requests, in bytes. A smaller one means that `net.core.rmem_max` allows no more.
pub const RECEIVE_BUFFER: u64 = 4 * 1024 * 1024;

/// The counts of datagrams in one interval.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct DatagramTally {
    /// The number of datagrams sent.
    pub sent: u64,
    /// The number of system calls that sent them.
    pub sends: u64,
    /// The number of datagrams received.
    pub received: u64,
    /// The number of system calls that received them.
    pub receives: u64,
    /// The number of packets sent, of which a datagram has one or, in a handshake, several. Those of a connection count when it ends, or
    /// the warm-up or the run does.
    pub packets: u64,
    /// The number of packets that were taken to be lost, whose content was sent again.
    pub lost_packets: u64,
    /// The number of datagrams that the kernel dropped before they were read. They count when the packets do.
    pub dropped: u64,
    /// The size in bytes of the smallest receive buffer of a socket; 0 if unknown.
    pub receive_buffer: u64,
}

impl DatagramTally {
    /// Adds another tally.
    pub fn add(&mut self, other: &Self) {
        self.sent += other.sent;
        self.sends += other.sends;
        self.received += other.received;
        self.receives += other.receives;
        self.packets += other.packets;
        self.lost_packets += other.lost_packets;
        self.dropped += other.dropped;
        self.has_buffer(other.receive_buffer);
    }

    /// Notes the size of a socket's receive buffer; 0 if it is unknown.
    pub fn has_buffer(&mut self, bytes: u64) {
        self.receive_buffer = [self.receive_buffer, bytes].into_iter().filter(|&bytes| bytes > 0).min().unwrap_or(0);
    }

    /// Returns the summary of a run; `None` if it had no datagrams. `server_dropped` is the number of datagrams that the kernel dropped
    /// before the server read them, if that is known.
    pub fn summary(&self, server_dropped: Option<u64>) -> Option<Datagrams> {
        let ratio = |of: u64, to: u64| (to > 0).then(|| of as f64 / to as f64);
        (self.sent > 0).then(|| Datagrams {
            sent: self.sent,
            received: self.received,
            per_send: ratio(self.sent, self.sends),
            per_receive: ratio(self.received, self.receives),
            packets: self.packets,
            lost_packets: self.lost_packets,
            dropped: self.dropped,
            receive_buffer: (self.receive_buffer > 0).then_some(self.receive_buffer),
            server_dropped,
        })
    }
}

impl Bounded for DatagramTally {
    fn bound(&mut self, most: u64) -> Result<(), OutOfBounds> {
        let Self { sent, sends, received, receives, packets, lost_packets, dropped, receive_buffer } = *self;
        at_most("datagrams", [receive_buffer], u64::from(u32::MAX))?;
        at_most("datagrams", [sent, sends, received, receives, packets, lost_packets, dropped], most)
    }
}

/// The datagrams of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Datagrams {
    /// The number of datagrams sent.
    pub sent: u64,
    /// The number of datagrams received.
    pub received: u64,
    /// The mean number of datagrams that one system call sent (UDP_SEGMENT).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_send: Option<f64>,
    /// The mean number of datagrams that one system call received (UDP_GRO).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_receive: Option<f64>,
    /// The number of packets sent.
    pub packets: u64,
    /// The number of packets that were taken to be lost, whose content was sent again.
    pub lost_packets: u64,
    /// The number of datagrams that this machine's kernel dropped before Torr read them.
    #[serde(default)]
    pub dropped: u64,
    /// The size in bytes of the smallest receive buffer of a socket, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receive_buffer: Option<u64>,
    /// The number of datagrams that the kernel of the server's machine dropped before the server read them, if that is visible.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_dropped: Option<u64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tallies_add_up_and_are_bounded() {
        let counts = DatagramTally { sent: 3, sends: 2, received: 8, receives: 2, ..DatagramTally::default() };
        let one = DatagramTally { packets: 4, lost_packets: 1, dropped: 2, receive_buffer: 9000, ..counts };
        let mut tally = DatagramTally::default();
        assert_eq!(tally.summary(None), None);
        tally.add(&one);
        tally.add(&DatagramTally { receive_buffer: 8000, ..one });
        tally.add(&DatagramTally::default());
        let summary = tally.summary(Some(7)).expect("there were datagrams");
        assert_eq!((summary.sent, summary.received, summary.packets, summary.lost_packets), (6, 16, 8, 2));
        assert_eq!((summary.per_send, summary.per_receive), (Some(1.5), Some(4.0)));
        assert_eq!((summary.dropped, summary.receive_buffer, summary.server_dropped), (4, Some(8000), Some(7)));
        // All of them together.
        assert!(tally.bound(44).is_ok() && tally.bound(43).is_err());
    }
}
