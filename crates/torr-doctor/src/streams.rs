//! What tells of a service whose responses are streams of events: how many wait for a first event, and their gaps.

use crate::thresholds::{STREAMS_DEVIATIONS, STREAMS_WAIT};
use torr_gauge::RunResult;
use torr_gauge::verdict::Fact;

/// Returns as a fact that fewer streams than wanted were open, since the others waited for their first event: those that have just begun
/// aside (Little's law: the rate of first events times their mean time).
pub fn waiting(run: &RunResult, wanted: usize) -> Option<Fact> {
    let streams = run.streams.as_ref()?;
    let mean_s = streams.first_event_us.map_or(0.0, |first| first.mean / 1e6);
    let beginning = streams.begun as f64 / run.duration_s.max(1e-6) * mean_s;
    let usual = beginning + STREAMS_DEVIATIONS * beginning.sqrt() + STREAMS_WAIT * wanted as f64;
    (run.waiting() as f64 > usual).then(|| Fact::OpenStreams { open: streams.open, waiting: run.waiting() })
}

/// Returns the times to the first events as evidence.
pub fn first_events(run: &RunResult) -> Option<Fact> {
    let first = run.streams.as_ref()?.first_event_us?;
    let seconds = |us: u64| us as f64 / 1e6;
    Some(Fact::FirstEvents { p50_s: seconds(first.p50?), p99_s: first.p99.map(seconds), max_s: seconds(first.max) })
}

/// Returns the times between events as evidence.
pub fn gaps(run: &RunResult) -> Option<Fact> {
    let streams = run.streams.as_ref()?;
    let gaps = streams.gap_us?;
    let seconds = |us: u64| us as f64 / 1e6;
    Some(Fact::Gaps {
        p50_s: seconds(gaps.p50?),
        p99_s: gaps.p99.map(seconds),
        silence_s: seconds(streams.longest_silence_us),
    })
}

/// Returns the times of a run with one stream at a time as evidence.
pub fn alone(run: &RunResult) -> Option<Fact> {
    let streams = run.streams.as_ref()?;
    let gap_s = streams.gap_us.map(|gap| gap.typical_us() / 1e6);
    Some(Fact::StreamAlone { first_event_s: streams.first_event_us?.typical_us() / 1e6, gap_s })
}
