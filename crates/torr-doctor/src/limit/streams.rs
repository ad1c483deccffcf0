//! Responses that are streams of events: the load of a search is then the number of streams that are open at a time. A stream may last
//! longer than a step, so that its rate would say nothing of how many are open, and what a user notices are first events and gaps.

use super::ask::Ask;
use super::settings::Settings;
use serde::Serialize;
use std::time::Duration;
use torr_gauge::RunResult;
use torr_gauge::latency::Summary;

/// The gaps of each stream that a step should have.
const GAPS: f64 = 8.0;
/// The longest part of a step in which its streams begin, as a share of its length.
const BEGINNING: f64 = 0.2;

/// The streams of a step.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct StreamReading {
    /// The streams that were to be open at a time.
    pub at_a_time: usize,
    /// The most streams that could begin per second, so that they do not all begin at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub begins_per_s: Option<f64>,
    /// The streams that were open when the step ended.
    pub open: u64,
    /// Streams per second that had their first event in the step.
    pub begun_per_s: f64,
    /// Events per second.
    pub events_per_s: f64,
    /// The times to the first event.
    pub first_event_us: Option<Summary>,
    /// The times between two events of a stream.
    pub gap_us: Option<Summary>,
}

impl StreamReading {
    /// Returns the streams of a step; `None` if its responses are no streams, or another load than their number was tried.
    pub(super) fn of(run: &RunResult, ask: &Ask) -> Option<Self> {
        let (streams, at_a_time) = (run.streams.as_ref()?, ask.load.streams()?);
        Some(Self {
            at_a_time,
            begins_per_s: ask.begins_per_s,
            open: streams.open,
            begun_per_s: streams.begun as f64 / run.duration_s.max(1e-6),
            events_per_s: streams.events_per_s,
            first_event_us: streams.first_event_us,
            gap_us: streams.gap_us,
        })
    }
}

/// The times of one stream at a time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Alone {
    /// The usual gap in seconds, if there was one.
    gap_s: Option<f64>,
    /// The shortest stream in seconds, if one has ended.
    length_s: Option<f64>,
}

impl Alone {
    /// Returns the times of a step with one stream at a time, whose shortest one took so many microseconds.
    pub(super) fn of(streams: &StreamReading, shortest_us: Option<u64>) -> Self {
        Self {
            gap_s: streams.gap_us.map(|gap| gap.typical_us() / 1e6),
            length_s: shortest_us.map(|us| us as f64 / 1e6),
        }
    }

    /// Returns the usual gap in microseconds.
    pub(super) fn gap_us(self) -> Option<f64> {
        self.gap_s.map(|gap_s| gap_s * 1e6)
    }

    /// Returns the usual gap in seconds; 0 if there was none.
    pub(super) fn gap_s(self) -> f64 {
        self.gap_s.unwrap_or(0.0)
    }

    /// Returns the time in which a stream has the gaps that a step should have.
    pub(super) fn gaps(self) -> Duration {
        Duration::try_from_secs_f64(GAPS * self.gap_s()).unwrap_or(Duration::MAX)
    }

    /// Returns whether the gaps of a step are as those of one stream at a time, up to a multiple and a number of microseconds.
    pub(super) fn is_usual(self, streams: Option<&StreamReading>, (times, us): (f64, f64)) -> bool {
        let gaps = streams.and_then(|streams| streams.gap_us).map(|gap| gap.typical_us() / 1e6);
        gaps.zip(self.gap_s).is_none_or(|(gap, alone)| gap <= times * alone + us / 1e6)
    }

    /// Returns the time in which the streams of a step of this length begin: that of one stream, so that their ends are as far apart as
    /// their beginnings, and a part of the step for longer streams.
    pub(super) fn beginning(self, length: Duration) -> Duration {
        let part = length.mul_f64(BEGINNING);
        self.length_s.map_or(part, |length_s| part.min(Duration::from_secs_f64(length_s.clamp(1e-3, 1e6))))
    }
}

impl Settings {
    /// Returns the nearest number of streams, not above this one, of which each connection has as many as any other.
    pub(super) fn streams(&self, streams: f64) -> usize {
        let wanted = (streams.max(1.0) as usize).min(self.most_streams());
        let connections = wanted.div_ceil(self.depth.max(1) as usize);
        (wanted / connections) * connections
    }

    /// Returns the number of streams that the permitted connections can have.
    pub(super) fn most_streams(&self) -> usize {
        self.max_connections.max(1).saturating_mul(self.depth.max(1) as usize)
    }
}
