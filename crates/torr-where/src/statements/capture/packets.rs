//! Packets that wait to be decoded: a load must not wait for a CPU that decodes.

use super::super::tracker::Tracker;

/// The most bytes that are kept. Packets beyond are decoded while they come.
const BYTES: usize = 32 << 20;

/// Packets in the order of their arrival.
#[derive(Debug)]
pub(super) struct Packets {
    bytes: Vec<u8>,
    /// Of each packet its length, and its time in nanoseconds.
    lengths: Vec<(usize, u64)>,
    /// The packets that were added, decoded or not.
    pub(super) taken: u64,
    /// The time of the last packet that is taken, in nanoseconds; later ones are dropped.
    pub(super) until: u64,
}

impl Default for Packets {
    fn default() -> Self {
        Self { bytes: Vec::new(), lengths: Vec::new(), taken: 0, until: u64::MAX }
    }
}

impl Packets {
    /// Adds a packet. Where there is no more room, `tracker` decodes the packets before it.
    pub(super) fn add(&mut self, packet: &[u8], at: u64, tracker: &mut Tracker) {
        if at > self.until {
            return;
        }
        if self.bytes.len() + packet.len() > BYTES {
            self.decode(tracker);
        }
        self.bytes.extend_from_slice(packet);
        self.lengths.push((packet.len(), at));
        self.taken += 1;
    }

    /// Decodes all packets in their order, and forgets them.
    pub(super) fn decode(&mut self, tracker: &mut Tracker) {
        let mut begin = 0;
        for (length, at) in self.lengths.drain(..) {
            if let Some(packet) = self.bytes.get(begin..begin + length) {
                tracker.packet(packet, at);
            }
            begin += length;
        }
        self.bytes.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::database::Database;
    use super::super::super::packet::tests::packet;
    use super::*;

    #[test]
    fn packets_are_decoded_once_also_beyond_the_room() {
        let [client, server] = ["10.0.0.1:4000", "10.0.0.2:6379"].map(|address| address.parse().expect("an address"));
        let mut tracker = Tracker::new(Database::Redis, server);
        let mut packets = Packets::default();
        let long = packet(client, server, 1, 1, 0x18, &[b'x'; 60_000]);
        let count = BYTES / long.len() + 2;
        for at in 0..count {
            packets.add(&long, at as u64, &mut tracker);
        }
        assert!(packets.bytes.len() <= BYTES && packets.taken == count as u64);
        assert_eq!(tracker.segments, count as u64 - packets.lengths.len() as u64);
        packets.decode(&mut tracker);
        packets.decode(&mut tracker);
        assert_eq!(tracker.segments, count as u64);
    }
}
