//! What several rules about streams read of the loads, and the facts that they share.

use crate::evidence::Evidence;
use crate::observation::Observation;
use crate::streams;
use crate::thresholds::{FIRST_EVENT_WAITS, FLAT_STREAMS, GAPS_KEPT, STREAMS_DEVIATIONS, STREAMS_WAIT, TURNED_OVER};
use torr_gauge::RunResult;
use torr_gauge::verdict::{ExperimentId, Fact};

/// The events per second from which a run of ten seconds has gaps enough for their 99th percentile.
const OFTEN_PER_S: f64 = 150.0;

/// Returns the number of streams at a time that the user means.
pub fn wanted(evidence: &Evidence) -> usize {
    evidence.figures.in_flight
}

/// Returns the number of streams at a time of a load.
pub fn streams_of(seen: &Observation) -> usize {
    seen.run.plan.connections * usize::from(seen.run.plan.depth.max(1))
}

/// Returns the number of streams that had an event, and were open when a load ended.
pub fn open(run: &RunResult) -> u64 {
    run.streams.as_ref().map_or(0, |streams| streams.open)
}

/// Returns the number of streams that have events at a time under the user's load: those that were open at its end, or by Little's law where
/// streams follow each other.
pub fn held(evidence: &Evidence) -> u64 {
    let open = open(&evidence.full().run);
    match begun(evidence.full()) > TURNED_OVER * open as f64 {
        true => evidence.figures.parallelism().round().max(1.0) as u64,
        false => open,
    }
}

fn begun(seen: &Observation) -> f64 {
    seen.run.streams.as_ref().map_or(0.0, |streams| streams.begun as f64)
}

/// Returns whether streams wait for their first event longer than one alone does.
pub fn is_waiting(evidence: &Evidence) -> bool {
    let (full, wanted) = (evidence.full(), wanted(evidence) as f64);
    let first = |seen: &Observation| seen.run.streams.as_ref().and_then(|streams| streams.first_event_us);
    let alone_us = first(evidence.alone()).map_or(0.0, |first| first.mean);
    let (times, us) = FIRST_EVENT_WAITS;
    if first(full).is_some_and(|first| first.typical_us() >= times * alone_us + us) {
        return true;
    }
    // Of streams that follow each other all may just begin. Endless ones that wait have no first event in the figure above.
    let beginning = begun(full) / full.run.duration_s.max(1e-6) * alone_us / 1e6;
    let usual = beginning + STREAMS_DEVIATIONS * beginning.sqrt() + STREAMS_WAIT * wanted;
    begun(full) <= TURNED_OVER * wanted && full.run.waiting() as f64 > usual
}

/// Returns the observation of more streams than the user means.
pub fn double(evidence: &Evidence) -> Option<&Observation> {
    evidence.last(ExperimentId::Double).filter(|_| !evidence.below_errors)
}

/// Returns by what factor events per second grew for twice the streams.
pub fn growth(evidence: &Evidence) -> Option<f64> {
    let double = double(evidence)?;
    let doublings = (double.run.plan.connections as f64 / evidence.figures.connections.max(1) as f64).log2();
    let ratio = double.good_rps() / evidence.figures.rps().max(1e-9);
    (doublings > 0.0).then(|| ratio.powf(1.0 / doublings))
}

/// Returns what streams have beside one alone, as evidence.
pub fn pace(evidence: &Evidence) -> Option<Fact> {
    let (figures, streams) = (&evidence.figures, wanted(evidence) as u64);
    (figures.alone_mean_s > 0.0).then(|| Fact::StreamsPace {
        streams,
        events_per_s: figures.rps(),
        share: figures.utilisation(),
    })
}

/// Returns the first events and the gaps of the user's load, and those of one stream, as evidence.
pub fn times(evidence: &Evidence) -> Vec<Fact> {
    let alone = streams::alone(&evidence.alone().run);
    let full = &evidence.full().run;
    [streams::first_events(full), streams::gaps(full), alone].into_iter().flatten().collect()
}

/// Returns how many streams of a load had an event, as evidence.
pub fn at_a_time(evidence: &Evidence, seen: &Observation) -> Fact {
    let each = wanted(evidence) / evidence.figures.connections.max(1);
    Fact::StreamsAtATime { open: open(&seen.run), of: (seen.run.plan.connections * each.max(1)) as u64 }
}

/// Returns that more streams have no more events, as evidence.
pub fn flat(evidence: &Evidence) -> Option<Fact> {
    let double = double(evidence)?;
    is_flat(evidence).then(|| Fact::EventsFlat {
        events_per_s: evidence.figures.rps(),
        from: wanted(evidence) as u64,
        to: Some(streams_of(double) as u64),
    })
}

/// Returns the command of a run that fails if gaps are longer than twice those of one stream alone.
pub fn verify(evidence: &Evidence) -> String {
    let alone = evidence.alone().run.streams.as_ref();
    let gap = alone.and_then(|streams| streams.gap_us);
    let (commands, connections) = (&evidence.setting.commands, &evidence.setting.connections);
    let Some(gap) = gap else { return commands.press(&[("-c", connections)]) };
    // A percentile of too few gaps is not known, and fails.
    let percentile = if evidence.figures.rps() >= OFTEN_PER_S { "p99" } else { "p50" };
    let rule = format!("gap_{percentile}>{:.0}ms", (2.0 * gap.max as f64 / 1e3).max(1.0).ceil());
    commands.press(&[("-c", connections), ("--fail-if", &rule)])
}

/// Returns whether more streams have no more events.
pub fn is_flat(evidence: &Evidence) -> bool {
    growth(evidence).is_some_and(|growth| growth < FLAT_STREAMS)
}

/// Returns whether the median gap under the user's load is that of one stream alone.
pub fn gaps_are_kept(evidence: &Evidence) -> bool {
    let gap = |seen: &Observation| seen.run.streams.as_ref().and_then(|streams| streams.gap_us);
    let typical = |seen| gap(seen).map(|gap| gap.typical_us());
    let (times, us) = GAPS_KEPT;
    typical(evidence.full()).zip(typical(evidence.alone())).is_none_or(|(full, alone)| full <= times * alone + us)
}
