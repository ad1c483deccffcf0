//! The state that the connections of a thread share: memory, the one request where all are the same, and counts of datagrams.

use super::encoded::EncodedRequest;
use bytes::Bytes;
use std::io;
use std::os::fd::AsFd;
use torr_gauge::Sample;
use torr_gauge::datagrams::DatagramTally;
use torr_net::datagrams::{self, DatagramCounts};

/// The sentence of a caution names what the sockets request.
const _: () = assert!(datagrams::RECEIVE_BUFFER as u64 == torr_gauge::datagrams::RECEIVE_BUFFER);

/// The buffers and counts of a thread.
#[derive(Debug, Default)]
pub struct Http3Buffers {
    /// The one request that there is, encoded.
    pub(super) constant: Option<EncodedRequest>,
    /// Room for datagrams on their way out.
    pub(super) room: Vec<u8>,
    /// Pieces of a stream that is being read.
    pub(super) chunks: Vec<Bytes>,
    /// Room for the strings of a field section.
    pub(super) strings: Vec<u8>,
    /// Room for a field section that is being encoded.
    pub(super) section: Vec<u8>,
    pub(super) counts: DatagramCounts,
    /// The packets and drops of connections and their sockets since the last tally.
    settled: DatagramTally,
    /// The bytes of trains' headers among those that count as sent, as far as they have not been subtracted.
    overhead: u64,
}

impl Http3Buffers {
    /// Sends trains, and returns the number of bytes that were taken, headers included.
    pub(super) fn send(&mut self, socket: impl AsFd, bytes: &[u8]) -> io::Result<usize> {
        let sent = datagrams::send(socket, bytes, &mut self.counts)?;
        self.overhead += (datagrams::trains(&bytes[..sent]).count() * datagrams::HEADER) as u64;
        Ok(sent)
    }

    /// Counts the packets of a connection, those `before` having been counted.
    pub(super) fn count_packets(&mut self, before: (u64, u64), now: (u64, u64)) {
        self.settled.lost_packets += now.0.saturating_sub(before.0);
        self.settled.packets += now.1.saturating_sub(before.1);
    }

    /// Counts the datagrams that the kernel has dropped of a socket with a receive buffer of this size.
    pub(super) fn count_drops(&mut self, dropped: u32, receive_buffer: u64) {
        self.settled.dropped += u64::from(dropped);
        self.settled.has_buffer(receive_buffer);
    }

    /// Adds the counts since the last call to a sample.
    #[inline]
    pub(super) fn add_tally(&mut self, sample: &mut Sample) {
        let subtracted = self.overhead.min(sample.sent);
        sample.sent -= subtracted;
        self.overhead -= subtracted;
        let counts = std::mem::take(&mut self.counts);
        let settled = std::mem::take(&mut self.settled);
        if counts != DatagramCounts::default() || settled != DatagramTally::default() {
            let tally = &mut sample.datagrams;
            tally.sent += counts.sent;
            tally.sends += counts.sends;
            tally.received += counts.received;
            tally.receives += counts.receives;
            tally.add(&settled);
        }
    }
}
