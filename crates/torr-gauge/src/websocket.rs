//! WebSocket connections: their opening handshakes, how servers closed them, and what servers sent unasked.

use crate::Latency;
use crate::bounds::{Bounded, OutOfBounds, at_most, no_longer};
use crate::latency::Summary;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The number of codes that a close frame can have, with the two that stand for none.
const CODES: usize = 4000;

/// The counts of WebSocket connections in one interval.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct WebSocketTally {
    /// The durations of opening handshakes, from the connection's establishment, that of TLS included, to the response.
    pub handshakes: Latency,
    /// The number of messages that came while no request was in flight.
    pub pushed: u64,
    /// The number of pings, each of which a pong has replied to.
    pub pings: u64,
    /// The number of connections whose messages are compressed. `None` if no handshake has offered that.
    pub compressed: Option<u64>,
    /// The number of connections that the server closed, by the code of its close frame.
    pub closed: BTreeMap<u16, u64>,
}

impl WebSocketTally {
    /// Whether nothing was counted.
    #[inline]
    pub fn is_empty(&self) -> bool {
        let has_counts = self.pushed > 0 || self.pings > 0 || self.compressed.is_some() || !self.closed.is_empty();
        !has_counts && self.handshakes.count() == 0
    }

    /// Adds another tally.
    pub fn add(&mut self, other: &Self) {
        self.handshakes.add(&other.handshakes);
        self.pushed += other.pushed;
        self.pings += other.pings;
        if let Some(compressed) = other.compressed {
            *self.compressed.get_or_insert(0) += compressed;
        }
        other.closed.iter().for_each(|(&code, count)| *self.closed.entry(code).or_default() += count);
    }

    /// Returns an empty tally with the memory of this one.
    #[must_use]
    pub fn cleared(self) -> Self {
        let Self { mut handshakes, .. } = self;
        handshakes.clear();
        Self { handshakes, ..Self::default() }
    }

    /// Returns the summary of a run.
    pub fn summary(&self) -> WebSockets {
        WebSockets {
            handshake_us: self.handshakes.summary(),
            pushed: self.pushed,
            pings: self.pings,
            compressed: self.compressed,
            closed: self.closed.clone(),
        }
    }
}

impl Bounded for WebSocketTally {
    fn bound(&mut self, most: u64) -> Result<(), OutOfBounds> {
        let Self { handshakes, pushed, pings, compressed, closed } = self;
        at_most("handshakes", handshakes.counts().map(|(_, count)| count), most)?;
        [("pushed", *pushed), ("pings", *pings), ("compressed", compressed.unwrap_or(0))]
            .into_iter()
            .try_for_each(|(field, count)| at_most(field, [count], most))?;
        no_longer("closed", closed.len(), CODES)?;
        at_most("closed", closed.values().copied(), most)
    }
}

/// The WebSocket connections of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WebSockets {
    /// The durations of opening handshakes, from the connection's establishment, that of TLS included, to the response, in
    /// microseconds.
    pub handshake_us: Option<Summary>,
    /// The number of messages that the server pushed: they came while no request was in flight on their connection.
    pub pushed: u64,
    /// The number of pings that the server sent.
    pub pings: u64,
    /// The number of connections whose messages are compressed (RFC 7692). `None` if no handshake has offered that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compressed: Option<u64>,
    /// The number of connections that the server closed, by the code of its close frame (RFC 6455, section 7.4): 1005 stands for a
    /// frame without a code, and 1006 for the end of a connection without such a frame.
    pub closed: BTreeMap<u16, u64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tallies_add_up_and_are_bounded() {
        let mut tally = WebSocketTally::default();
        assert!(tally.is_empty());
        let compressed = Some(2);
        let mut other =
            WebSocketTally { pushed: 2, pings: 3, compressed, closed: [(1000, 1), (1006, 2)].into(), ..tally.clone() };
        other.handshakes.record(5000);
        tally.add(&other);
        tally.add(&other);
        let summary = tally.summary();
        assert_eq!((summary.pushed, summary.pings, &summary.closed), (4, 6, &[(1000, 2), (1006, 4)].into()));
        assert_eq!(summary.compressed, Some(4));
        assert!(!WebSocketTally { compressed: Some(0), ..WebSocketTally::default() }.is_empty(), "it was offered");
        assert_eq!(summary.handshake_us.map(|times| times.min), Some(5));
        assert!(tally.bound(6).is_ok());
        assert_eq!(tally.bound(5).err().map(|error| error.field), Some("pings"));
        assert!(tally.cleared().is_empty());
    }
}
