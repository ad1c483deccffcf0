//! Responses that are streams of events: the events of each, and the times between them.

use crate::Latency;
use crate::bounds::{Bounded, LONGEST_NS, MOST_IN_A_RUN, OutOfBounds, at_most};
use crate::latency::Summary;
use serde::{Deserialize, Serialize};

/// The events of streams in one interval.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct StreamTally {
    /// The number of events received.
    pub events: u64,
    /// The times from the scheduled time of a request to the first event of its stream.
    pub first_event: Latency,
    /// The times between two consecutive events of a stream. Events that are read at once have times of 0 between them.
    pub gaps: Latency,
    /// The longest time in nanoseconds in which an open stream had no event, the time before the run's end included.
    pub longest_silence: u64,
    /// The number of streams that the client ended as planned.
    pub limited: u64,
    /// The number of streams that failed since they had no event for too long.
    pub silent: u64,
    /// The number of streams that were open when the run ended.
    pub open: u64,
}

impl StreamTally {
    /// Records a silence of a stream.
    #[inline]
    pub fn silence(&mut self, nanos: u64) {
        self.longest_silence = self.longest_silence.max(nanos);
    }

    /// Adds another tally.
    pub fn add(&mut self, other: &Self) {
        self.events += other.events;
        self.first_event.add(&other.first_event);
        self.gaps.add(&other.gaps);
        self.silence(other.longest_silence);
        self.limited += other.limited;
        self.silent += other.silent;
        self.open += other.open;
    }

    /// Returns an empty tally with the memory of this one.
    #[must_use]
    pub fn cleared(self) -> Self {
        let Self { mut first_event, mut gaps, .. } = self;
        first_event.clear();
        gaps.clear();
        Self { first_event, gaps, ..Self::default() }
    }

    /// Returns the summary of a run of so many seconds, whose streams ended after these times.
    pub fn summary(&self, lengths: &Latency, duration_s: f64) -> Streams {
        Streams {
            events: self.events,
            events_per_s: crate::generator::round3(self.events as f64 / duration_s.max(1e-6)),
            begun: self.first_event.count(),
            first_event_us: self.first_event.summary(),
            gap_us: self.gaps.summary(),
            longest_silence_us: self.longest_silence / 1000,
            length_us: lengths.summary(),
            limited: self.limited,
            silent: self.silent,
            open: self.open,
        }
    }
}

impl Bounded for StreamTally {
    fn bound(&mut self, most: u64) -> Result<(), OutOfBounds> {
        let Self { events, first_event, gaps, longest_silence, limited, silent, open } = self;
        // A response has many events.
        at_most("events", [*events], MOST_IN_A_RUN)?;
        at_most("gaps", gaps.counts().map(|(_, count)| count), MOST_IN_A_RUN)?;
        at_most("first_event", first_event.counts().map(|(_, count)| count), most)?;
        at_most("longest_silence", [*longest_silence], LONGEST_NS)?;
        [("limited", *limited), ("silent", *silent), ("open", *open)]
            .into_iter()
            .try_for_each(|(field, count)| at_most(field, [count], most))
    }
}

/// The streams of a run. Each request is one; how it ended is among `requests`, `errors` and `unfinished` of the result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Streams {
    /// The number of events received.
    pub events: u64,
    /// Events per second.
    pub events_per_s: f64,
    /// The number of streams that had an event.
    pub begun: u64,
    /// The times from the scheduled time of a request to the first event of its stream, in microseconds.
    pub first_event_us: Option<Summary>,
    /// The times between two consecutive events of a stream, in microseconds.
    pub gap_us: Option<Summary>,
    /// The longest time in which an open stream had no event, in microseconds.
    pub longest_silence_us: u64,
    /// The times from the scheduled time to the end of streams that came to one, in microseconds.
    pub length_us: Option<Summary>,
    /// The number of streams that the client ended, as planned by `--until` or `--max-events`.
    #[serde(default)]
    pub limited: u64,
    /// The number of streams that failed since they had no event for the time of `--idle-timeout`.
    #[serde(default)]
    pub silent: u64,
    /// The number of streams that were open when the run ended: a part of `unfinished`.
    #[serde(default)]
    pub open: u64,
}
