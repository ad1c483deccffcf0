//! What the kernel tells of a sample of the connections, in room that does not grow with it.

use crate::generator::round3;
use serde::{Deserialize, Serialize};

/// What the kernel's TCP told of some connections, looked at now and then. Only looks at a connection that had one before,
/// or that was opened while it counted, tell what grew meanwhile.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Sockets {
    /// How often one was looked at; the same one several times, if there are few.
    pub looked_at: u64,
    /// The least round trip time of any, in microseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_rtt_us: Option<u64>,
    /// The mean of the smoothed round trip times in microseconds. They have in them how long the other side put its
    /// acknowledgements off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rtt_us: Option<f64>,
    /// The longest of the smoothed round trip times in microseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rtt_max_us: Option<u64>,
    /// The mean round trip time in microseconds, as estimated from what was received.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rcv_rtt_us: Option<f64>,
    /// Segments that were sent again on the connections that were looked at, up to the last look at each.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retransmits: Option<u64>,
    /// Of the segments that were sent there, those without data included, the share that these are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retransmitted_share: Option<f64>,
    /// For how long the connections that were looked at had something to send or unacknowledged, in microseconds, all
    /// together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub busy_us: Option<u64>,
    /// Of that, for how long the server's receive window held it back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rwnd_limited_us: Option<u64>,
    /// Of that, for how long the own send buffer did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sndbuf_limited_us: Option<u64>,
}

/// One look at one connection. What the kernel does not tell is `None`; times are microseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SocketReading {
    /// The least round trip time.
    pub min_rtt: Option<u64>,
    /// The smoothed one.
    pub rtt: Option<u64>,
    /// The one estimated from what was received.
    pub receiver_rtt: Option<u64>,
}

/// What only grows on a connection. What the kernel does not tell is `None`; times are microseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SocketCounters {
    /// Segments that were sent again.
    pub retransmits: Option<u64>,
    /// Segments that were sent.
    pub segments: Option<u64>,
    /// How long there was something to send or unacknowledged.
    pub busy: Option<u64>,
    /// How long the other side's window held it back.
    pub window_limited: Option<u64>,
    /// How long this side's buffer did.
    pub buffer_limited: Option<u64>,
}

impl SocketCounters {
    /// By how much it has grown since an earlier look at the same connection.
    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        self.with(earlier, |now, earlier| Some(now?.saturating_sub(earlier.unwrap_or(0))))
    }

    fn plus(self, other: Self) -> Self {
        self.with(other, |one, other| one.into_iter().chain(other).reduce(|one, other| one + other))
    }

    fn with(self, other: Self, make: impl Fn(Option<u64>, Option<u64>) -> Option<u64>) -> Self {
        Self {
            retransmits: make(self.retransmits, other.retransmits),
            segments: make(self.segments, other.segments),
            busy: make(self.busy, other.busy),
            window_limited: make(self.window_limited, other.window_limited),
            buffer_limited: make(self.buffer_limited, other.buffer_limited),
        }
    }
}

/// What several looks make together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SocketTally {
    looks: u64,
    min_rtt: Option<u64>,
    rtt: Mean,
    rtt_max: Option<u64>,
    receiver_rtt: Mean,
    grown: SocketCounters,
}

impl SocketTally {
    /// Takes in a look, and what has grown since the look before, if that is known.
    pub fn take(&mut self, look: SocketReading, grown: Option<SocketCounters>) {
        self.add(&Self {
            looks: 1,
            min_rtt: look.min_rtt,
            rtt: Mean::of(look.rtt),
            rtt_max: look.rtt,
            receiver_rtt: Mean::of(look.receiver_rtt),
            grown: grown.unwrap_or_default(),
        });
    }

    /// Adds what another tally holds.
    pub fn add(&mut self, other: &Self) {
        self.looks += other.looks;
        self.min_rtt = self.min_rtt.into_iter().chain(other.min_rtt).min();
        self.rtt.add(other.rtt);
        self.rtt_max = self.rtt_max.max(other.rtt_max);
        self.receiver_rtt.add(other.receiver_rtt);
        self.grown = self.grown.plus(other.grown);
    }

    /// What the result tells; nothing if there was no look.
    pub fn summary(&self) -> Option<Sockets> {
        let share = |again: u64| Some(again as f64 / self.grown.segments.filter(|&all| all > 0)? as f64);
        (self.looks > 0).then(|| Sockets {
            looked_at: self.looks,
            min_rtt_us: self.min_rtt,
            rtt_us: self.rtt.value(),
            rtt_max_us: self.rtt_max,
            rcv_rtt_us: self.receiver_rtt.value(),
            retransmits: self.grown.retransmits,
            retransmitted_share: self.grown.retransmits.and_then(share),
            busy_us: self.grown.busy,
            rwnd_limited_us: self.grown.window_limited,
            sndbuf_limited_us: self.grown.buffer_limited,
        })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Mean {
    sum: u64,
    count: u64,
}

impl Mean {
    fn of(value: Option<u64>) -> Self {
        Self { sum: value.unwrap_or(0), count: value.is_some().into() }
    }

    fn add(&mut self, other: Self) {
        self.sum += other.sum;
        self.count += other.count;
    }

    fn value(self) -> Option<f64> {
        (self.count > 0).then(|| round3(self.sum as f64 / self.count as f64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_told_is_absent_and_not_zero() {
        let mut tally = SocketTally::default();
        assert_eq!(tally.summary(), None);
        tally.take(SocketReading::default(), None);
        assert_eq!(tally.summary(), Some(Sockets { looked_at: 1, ..Sockets::default() }));
    }

    #[test]
    fn looks_are_summed_up() {
        let counts = |retransmits, segments| SocketCounters {
            retransmits: Some(retransmits),
            segments: Some(segments),
            busy: Some(10 * segments),
            ..SocketCounters::default()
        };
        let (mut one, mut other) = (SocketTally::default(), SocketTally::default());
        one.take(SocketReading { min_rtt: Some(20), rtt: Some(30), receiver_rtt: None }, Some(counts(1, 50)));
        other.take(SocketReading { min_rtt: Some(10), rtt: Some(50), receiver_rtt: Some(70) }, None);
        other.take(
            SocketReading { min_rtt: None, rtt: Some(40), receiver_rtt: None },
            Some(counts(4, 200).since(counts(2, 50))),
        );
        one.add(&other);
        let expected = Sockets {
            looked_at: 3,
            min_rtt_us: Some(10),
            rtt_us: Some(40.0),
            rtt_max_us: Some(50),
            rcv_rtt_us: Some(70.0),
            retransmits: Some(3),
            retransmitted_share: Some(0.015),
            busy_us: Some(2000),
            rwnd_limited_us: None,
            sndbuf_limited_us: None,
        };
        assert_eq!(one.summary(), Some(expected));
    }
}
