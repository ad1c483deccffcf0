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
