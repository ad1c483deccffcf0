//! Statistics of the kernel's TCP over a sample of connections, in bounded memory.

use crate::bounds::{Bounded, OutOfBounds, at_most, most_units};
use crate::generator::round3;
use serde::{Deserialize, Serialize};

/// The kernel's TCP statistics of sampled connections. Counters cover the time between two readings of a connection, or
/// since it was opened within the measured time.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Sockets {
    /// The number of readings, several of a connection if there are few.
    pub looked_at: u64,
    /// The minimum round-trip time in microseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_rtt_us: Option<u64>,
    /// The mean of the smoothed round-trip times in microseconds, which include the server's delay of acknowledgements.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rtt_us: Option<f64>,
    /// The maximum of the smoothed round-trip times in microseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rtt_max_us: Option<u64>,
    /// The mean of the receiver's estimates of the round-trip time in microseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rcv_rtt_us: Option<f64>,
    /// The number of segments retransmitted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retransmits: Option<u64>,
    /// The retransmitted share of all segments sent, pure acknowledgements included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retransmitted_share: Option<f64>,
    /// The time with data to send or unacknowledged in microseconds, summed over connections.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub busy_us: Option<u64>,
    /// The part of `busy_us` in which the server's receive window limited sending.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rwnd_limited_us: Option<u64>,
    /// The part of `busy_us` in which the send buffer limited sending.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sndbuf_limited_us: Option<u64>,
}

/// One reading of a connection, in microseconds. `None` if the kernel does not report a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SocketReading {
    /// The minimum round-trip time.
    pub min_rtt: Option<u64>,
    /// The smoothed round-trip time.
    pub rtt: Option<u64>,
    /// The receiver's estimate of the round-trip time.
    pub receiver_rtt: Option<u64>,
}

/// The counters of a connection, times in microseconds. `None` if the kernel does not report a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SocketCounters {
    /// The number of segments retransmitted.
    pub retransmits: Option<u64>,
    /// The number of segments sent.
    pub segments: Option<u64>,
    /// The time with data to send or unacknowledged.
    pub busy: Option<u64>,
    /// The part of `busy` in which the peer's window limited sending.
    pub window_limited: Option<u64>,
    /// The part of `busy` in which the send buffer limited sending.
    pub buffer_limited: Option<u64>,
}

impl SocketCounters {
    /// Returns the difference to an earlier reading of the connection.
    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        self.with(earlier, |now, earlier| Some(now?.saturating_sub(earlier.unwrap_or(0))))
    }

    fn plus(self, other: Self) -> Self {
        self.with(other, |one, other| one.into_iter().chain(other).reduce(u64::saturating_add))
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

/// The sum of several samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SocketTally {
    readings: u64,
    min_rtt: Option<u64>,
    rtt: Mean,
    rtt_max: Option<u64>,
    receiver_rtt: Mean,
    grown: SocketCounters,
}

impl SocketTally {
    /// Adds a reading, and the counters' growth since the reading before, if there was one.
    pub fn take(&mut self, reading: SocketReading, grown: Option<SocketCounters>) {
        self.add(&Self {
            readings: 1,
            min_rtt: reading.min_rtt,
            rtt: Mean::of(reading.rtt),
            rtt_max: reading.rtt,
            receiver_rtt: Mean::of(reading.receiver_rtt),
            grown: grown.unwrap_or_default(),
        });
    }

    /// Adds another tally.
    pub fn add(&mut self, other: &Self) {
        self.readings += other.readings;
        self.min_rtt = self.min_rtt.into_iter().chain(other.min_rtt).min();
        self.rtt.add(other.rtt);
        self.rtt_max = self.rtt_max.max(other.rtt_max);
        self.receiver_rtt.add(other.receiver_rtt);
        self.grown = self.grown.plus(other.grown);
    }

    /// Returns the statistics, `None` without readings.
    pub fn summary(&self) -> Option<Sockets> {
        let share = |again: u64| Some(again as f64 / self.grown.segments.filter(|&all| all > 0)? as f64);
        (self.readings > 0).then(|| Sockets {
            looked_at: self.readings,
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

impl Bounded for SocketTally {
    fn bound(&mut self, most: u64) -> Result<(), OutOfBounds> {
        let &mut Self { readings, min_rtt, rtt, rtt_max, receiver_rtt, grown } = self;
        let SocketCounters { retransmits, segments, busy, window_limited, buffer_limited } = grown;
        for count in [readings, rtt.count, receiver_rtt.count] {
            at_most("sockets", [count], most)?;
        }
        let times = [min_rtt, rtt_max, Some(rtt.sum), Some(receiver_rtt.sum), busy, window_limited, buffer_limited];
        let units = [retransmits, segments].into_iter().chain(times);
        units.flatten().try_for_each(|units| at_most("sockets", [units], most_units(most)))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
struct Mean {
    sum: u64,
    count: u64,
}

impl Mean {
    fn of(value: Option<u64>) -> Self {
        Self { sum: value.unwrap_or(0), count: value.is_some().into() }
    }

    fn add(&mut self, other: Self) {
        self.sum = self.sum.saturating_add(other.sum);
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
    fn unreported_values_are_absent_and_not_zero() {
        let mut tally = SocketTally::default();
        assert_eq!(tally.summary(), None);
        tally.take(SocketReading::default(), None);
        assert_eq!(tally.summary(), Some(Sockets { looked_at: 1, ..Sockets::default() }));
    }

    #[test]
    fn readings_are_summed_up() {
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
