//! The experiments that the diagnosis of streams begins with: one stream alone, then ever more at a time. The unit of work is the event: by
//! Little's law as many streams are open as there are events per second, times the mean time that a stream has for one.
//!
//! All loads take equally long and count from their begin, so that streams that are not even have the same part of their course in each.

use crate::evidence::Evidence;
use crate::experiment::{Experiment, Length, NullContent, Request, Step};
use crate::figures::Figures;
use crate::ladder::rungs;
use crate::observation::Observation;
use crate::setting::Setting;
use crate::thresholds::{LONG_STREAM, RUN_DISTURBED, STREAM_EVENTS, STREAM_LENGTHS, STREAM_S};
use crate::weather::disturbance;
use std::time::Duration;
use torr_gauge::verdict::ExperimentId as Id;

/// The budget in seconds for which [`STREAM_S`] is given.
const PLANNED_S: f64 = 60.0;
/// The longest load as a share of the budget.
const LONGEST: f64 = 1.0 / 14.0;
/// The length of the first look at one stream that has too few events in the usual time, as a share of the budget.
const LONGER: f64 = 1.0 / 8.0;
/// The number of streams up to which each rung of the ladder has twice as many as the one before; four times as many above.
const CLOSE: usize = 16;
/// The number of streams that begin in a second, at least: so much longer a load is with more.
const BEGIN_PER_S: f64 = 5000.0;
/// The share of the budget for which a disturbed machine is left alone.
const REST: f64 = 1.0 / 30.0;

/// One stream at a time; again for longer if it has few events, or ends seldom.
pub fn alone_rule(evidence: &Evidence) -> Step {
    let (setting, usual) = (&evidence.setting, usual_share());
    let alone = evidence.observe(setting.single(Id::Alone, Length::Share(usual)))?;
    let wanted = match events_alone(alone) {
        Some(_) => share(setting, alone),
        None => LONGER,
    };
    if wanted > LONG_STREAM * usual {
        evidence.observe(setting.single(Id::AloneLonger, Length::Share(wanted)))?;
    }
    Ok(None)
}

/// Ever more streams at a time, up to twice as many as the user means.
pub fn ladder_rule(evidence: &Evidence) -> Step {
    let (setting, planned) = (&evidence.setting, evidence.setting.connections);
    let below = rungs(planned).into_iter().filter(|&connections| connections > 1 && connections < planned);
    let far = |connections: &usize| planned <= CLOSE || connections.trailing_zeros().is_multiple_of(2);
    for connections in below.filter(far) {
        evidence.observe(load(evidence, connections, Id::Rung(connections)))?;
    }
    let full = evidence.observe(load(evidence, planned, Id::Full))?;
    let others = disturbance(full, setting.same_machine).map_or(0.0, |disturbance| disturbance.others_share);
    if setting.same_machine && others > RUN_DISTURBED {
        let rest = Some(Duration::from_secs_f64(setting.budget_s * REST));
        evidence.observe(Experiment { rest, ..load(evidence, planned, Id::FullUndisturbed) })?;
    }
    let double = (2 * planned).min(setting.max_connections);
    if double > planned {
        evidence.observe(load(evidence, double, Id::Double))?;
    }
    Ok(None)
}

/// As many streams of a service that does nothing, at the pace of one stream alone.
pub fn null_rule(evidence: &Evidence) -> Step {
    let setting = &evidence.setting;
    if setting.has_null && setting.streams.is_some() {
        let gap_ms = (evidence.figures.alone_mean_s * 1e3).round() as u64;
        let null = load(evidence, setting.connections, Id::Null);
        let null = null.with(|load| load.request = Request::Null(NullContent::Events { gap_ms }));
        evidence.observe_if_reached(null)?;
    }
    Ok(None)
}

/// Returns the figures with the times of one stream alone. Its time for an event is the inverse of its events per second, in which gaps and
/// the waits for first events have the weight that they have in a stream.
pub fn with_alone(figures: Figures, seen: &Observation) -> Figures {
    let Some(events_per_s) = events_alone(seen) else { return figures };
    let each_s = 1.0 / events_per_s;
    // The round trip is no part of a gap.
    let round_trip_s = None;
    Figures { alone_least_s: each_s, alone_mean_s: each_s, alone_median_s: each_s, round_trip_s, ..figures }
}

/// Returns the events per second of one stream alone; `None` if it had too few to tell.
pub fn events_alone(seen: &Observation) -> Option<f64> {
    let streams = seen.run.streams.as_ref().filter(|streams| streams.events >= 2)?;
    Some(streams.events_per_s).filter(|per_s| *per_s > 0.0)
}

fn load(evidence: &Evidence, connections: usize, id: Id) -> Experiment {
    let setting = &evidence.setting;
    let alone = evidence.positions.alone.map(|at| &evidence.observations()[at]);
    let streams = (connections * usize::from(setting.depth.max(1))) as f64;
    let begin_s = streams / setting.max_rate.unwrap_or(f64::INFINITY).min(BEGIN_PER_S);
    let share = alone.map_or(usual_share(), |alone| share(setting, alone)) + begin_s / setting.budget_s;
    Experiment { length: Length::Share(share.min(LONGER)), ..setting.with_connections(connections, id, 0.0) }
}

fn usual_share() -> f64 {
    STREAM_S / PLANNED_S
}

/// Returns the length of a load as a share of the budget, by what one stream alone does: a number of its events, and of its lengths if it
/// ends.
fn share(setting: &Setting, alone: &Observation) -> f64 {
    let each_s = events_alone(alone).map_or(0.0, f64::recip);
    let lengths = alone.times.answered.filter(|_| alone.run.errors.total() == 0);
    let length_s = lengths.map_or(0.0, |lengths| lengths.median_us / 1e6);
    let needed_s = (STREAM_EVENTS * each_s).max(STREAM_LENGTHS * length_s);
    (needed_s / setting.budget_s.max(1e-3)).clamp(usual_share(), LONGEST)
}
