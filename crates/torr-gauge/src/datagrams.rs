//! The datagrams of a run over QUIC.

use crate::bounds::{Bounded, OutOfBounds, at_most};
use serde::{Deserialize, Serialize};

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
    /// The number of packets sent, of which a datagram has one or, in a handshake, several. Those of a connection count when it ends.
    pub packets: u64,
    /// The number of packets that were taken to be lost, whose content was sent again.
    pub lost_packets: u64,
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
    }

    /// Returns the summary of a run; `None` if it had no datagrams.
    pub fn summary(&self) -> Option<Datagrams> {
        let ratio = |of: u64, to: u64| (to > 0).then(|| of as f64 / to as f64);
        (self.sent > 0).then(|| Datagrams {
            sent: self.sent,
            received: self.received,
            per_send: ratio(self.sent, self.sends),
            per_receive: ratio(self.received, self.receives),
            packets: self.packets,
            lost_packets: self.lost_packets,
        })
    }
}

impl Bounded for DatagramTally {
    fn bound(&mut self, most: u64) -> Result<(), OutOfBounds> {
        let Self { sent, sends, received, receives, packets, lost_packets } = *self;
        at_most("datagrams", [sent, sends, received, receives, packets, lost_packets], most)
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
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tallies_add_up_and_are_bounded() {
        let one = DatagramTally { sent: 3, sends: 2, received: 8, receives: 2, packets: 4, lost_packets: 1 };
        let mut tally = DatagramTally::default();
        assert_eq!(tally.summary(), None);
        tally.add(&one);
        tally.add(&one);
        let summary = tally.summary().expect("there were datagrams");
        assert_eq!((summary.sent, summary.received, summary.packets, summary.lost_packets), (6, 16, 8, 2));
        assert_eq!((summary.per_send, summary.per_receive), (Some(1.5), Some(4.0)));
        // All of them together.
        assert!(tally.bound(40).is_ok() && tally.bound(39).is_err());
    }
}
