//! The experiments that every diagnosis begins with, gentle ones first, as rules that only ask; and the figures that follow from
//! them.

pub mod streams;

use crate::evidence::Evidence;
use crate::experiment::{Experiment, Length, NullContent, Request, Step, Warmup};
use crate::figures::{Beside, Cheap, Figures};
use crate::ladder::{Ladder, Rung, rungs};
use crate::observation::Observation;
use crate::setting::Setting;
use crate::spread;
use crate::thresholds::{CHEAP, COLD, FLAT_LADDER, MOST_CONNECTED, OTHERS_COUNT, RUN_DISTURBED};
use crate::weather::{Weather, disturbance};
use std::time::Duration;
use torr_gauge::verdict::{CheapRequest, ExperimentId as Id};
use torr_signals::Signals;

/// Pauses between requests that are to meet an idle server, unless those take longer.
const PAUSE: Duration = Duration::from_millis(12);
/// The number of requests that show whether a path is cheap.
const TRIES: u64 = 12;
/// The share of the budget for which a disturbed machine is left alone: other programs may have something to do for a moment only.
const REST: f64 = 1.0 / 30.0;

/// One request at a time; again after a pause if other programs disturbed it, or requests of an earlier load.
pub fn alone_rule(evidence: &Evidence) -> Step {
    look_alone(evidence, [Id::Alone, Id::AloneLonger], PAUSE)?;
    if alone_as_usual(evidence).is_some_and(|alone| is_spoiled(evidence, alone)) {
        let rest = Some(Duration::from_secs_f64(evidence.setting.budget_s * REST));
        let again = one_at_a_time(evidence, Id::AloneUndisturbed, Length::Seconds(1.2), PAUSE);
        evidence.observe_if_reached(Experiment { rest, ..again })?;
    }
    Ok(None)
}

/// Returns whether an observation of one request at a time says little about the service without load.
fn is_spoiled(evidence: &Evidence, alone: &Observation) -> bool {
    let is_disturbed = evidence.setting.same_machine && others_share(evidence, alone) > RUN_DISTURBED;
    is_disturbed || alone.times.answered.is_some_and(|answered| answered.is_scattered())
}

/// One request at a time again, where responses wait for acknowledgements as usual.
pub fn alone_acked(evidence: &Evidence) -> Step {
    match evidence.acks {
        Some(_) => look_acked(evidence, PAUSE),
        None => Ok(None),
    }
}

/// Requests one request at a time with immediate acknowledgements, and with pauses of at most this length.
pub fn look_acked(evidence: &Evidence, pause: Duration) -> Step {
    look_alone(evidence, [Id::AloneAcked, Id::AloneAckedLonger], pause)
}

/// Requests one request at a time with pauses, and again for longer where it is slow.
fn look_alone(evidence: &Evidence, [usual, longer]: [Id; 2], pause: Duration) -> Step {
    let one = |id, length| {
        let one = one_at_a_time(evidence, id, length, pause);
        one.with(|load| load.quick_ack = (usual == Id::AloneAcked).then_some(true))
    };
    let first = evidence.observe(one(usual, Length::Seconds(1.2)))?;
    if first.times.answered.is_none_or(|answered| answered.count < 3) {
        // So slow a service needs longer to show itself.
        evidence.observe(one(longer, Length::Share(1.0 / 8.0)))?;
    }
    Ok(None)
}

fn one_at_a_time(evidence: &Evidence, id: Id, length: Length, pause: Duration) -> Experiment {
    evidence.setting.single(id, length).with(|load| load.think = Some((pause / 2, pause)))
}

/// Returns the observation of one request at a time, as it was acknowledged first.
pub fn alone_as_usual(evidence: &Evidence) -> Option<&Observation> {
    evidence.last(Id::AloneLonger).or_else(|| evidence.last(Id::Alone))
}

/// Returns where the observation of one request at a time stands that figures rest on.
pub fn alone(evidence: &Evidence) -> Option<usize> {
    let usual = [Id::AloneLonger, Id::Alone].into_iter().find_map(|id| evidence.position(id));
    let acked = [Id::AloneAckedLonger, Id::AloneAcked].into_iter().find_map(|id| evidence.position(id));
    acked.or_else(|| calmer(evidence, usual, evidence.position(Id::AloneUndisturbed)))
}

/// Returns which of an observation and its repetition others disturbed less; the repetition if the disturbance was about the same.
fn calmer(evidence: &Evidence, first: Option<usize>, again: Option<usize>) -> Option<usize> {
    let share = |at: usize| others_share(evidence, &evidence.observations()[at]);
    match (first, again) {
        (Some(first), Some(again)) if share(again) > share(first) + OTHERS_COUNT => Some(first),
        (first, again) => again.or(first),
    }
}

/// Requests that the server may handle without the target's work.
pub fn cheap_rule(evidence: &Evidence) -> Step {
    for (request, experiment) in cheap_experiments(evidence) {
        let seen = evidence.observe_if_reached(experiment)?;
        if seen
            .and_then(|seen| cheap(request, seen))
            .is_some_and(|cheap| cheap.alone_s < CHEAP * evidence.figures.alone_median_s)
        {
            break;
        }
    }
    Ok(None)
}

/// The candidates for cheap requests: a path that does not exist, and a request that a server refuses before it reads the path.
fn cheap_experiments(evidence: &Evidence) -> Vec<(CheapRequest, Experiment)> {
    let setting = &evidence.setting;
    let light = |cheap, request| {
        let experiment = setting.single(Id::Cheap(cheap), Length::Seconds(0.6)).with(|load| {
            load.request = request;
            load.keep_alive = false;
            load.requests = Some(TRIES);
            load.think = Some((PAUSE / 3, PAUSE / 2));
        });
        (cheap, experiment)
    };
    let mut experiments = vec![light(CheapRequest::AbsentPath, Request::Absent)];
    if !setting.http2 && setting.agents.is_none() {
        experiments.push(light(CheapRequest::WithoutHost, Request::WithoutHost));
    }
    experiments
}

fn cheap(what: CheapRequest, seen: &Observation) -> Option<Cheap> {
    Some(Cheap { what, alone_s: seen.median_s()?, connect_s: seen.connect_median_s()? })
}

/// Ever more connections, up to twice as many as the user means.
pub fn ladder_rule(evidence: &Evidence) -> Step {
    let (setting, planned) = (&evidence.setting, evidence.setting.connections);
    let again = |id| setting.user(id, 2.5);
    let mut rates = vec![];
    for connections in rungs(planned).into_iter().filter(|&connections| connections != planned) {
        rates.push(evidence.observe(setting.with_connections(connections, Id::Rung(connections), 0.7))?.good_rps());
        if let [.., before, _, last] = rates[..]
            && last < FLAT_LADDER * before
        {
            break;
        }
    }
    let full = evidence.observe(again(Id::Full))?;
    if setting.same_machine && others_share(evidence, full) > RUN_DISTURBED {
        let rest = Some(Duration::from_secs_f64(setting.budget_s * REST));
        evidence.observe(Experiment { rest, ..again(Id::FullUndisturbed) })?;
    }
    if first_full(evidence).is_some_and(|at| idle_workers(evidence, at) > 0) {
        // Other connections may fall to other workers.
        evidence.observe(again(Id::FullSpread))?;
    }
    let double = (2 * planned).min(setting.max_connections);
    if double > planned {
        let came = evidence.observe(setting.with_connections(double, Id::Double, 1.0))?.run.connections.peak;
        if came.is_some_and(|came| (came as f64) < MOST_CONNECTED * double as f64) {
            // A full accept queue drops connections, and those come again after a second: this was not the load that was meant.
            evidence.observe(Experiment {
                warmup: Warmup::Connected,
                ..setting.with_connections(double, Id::DoubleConnected, 1.0)
            })?;
        }
    }
    Ok(None)
}

/// Returns where the observation of the user's load stands, with the connections that came first.
fn first_full(evidence: &Evidence) -> Option<usize> {
    calmer(evidence, evidence.position(Id::Full), evidence.position(Id::FullUndisturbed))
}

/// Returns where the observation of the user's load stands.
pub fn full(evidence: &Evidence) -> Option<usize> {
    if evidence.below_errors {
        return evidence.position(Id::FullWithoutErrors);
    }
    evidence.position(Id::FullSpread).or_else(|| first_full(evidence))
}

/// Returns the number of workers that idled in an observation while another was full.
fn idle_workers(evidence: &Evidence, at: usize) -> usize {
    let (others, seen) = (&evidence.observations()[..at], &evidence.observations()[at]);
    let others = others.iter().filter_map(|other| other.signals.as_ref());
    seen.signals.as_ref().map_or(0, |seen| spread::idle_workers(seen, others))
}

/// A service that does nothing, with connections that are kept and with one for each request.
pub fn null_rule(evidence: &Evidence) -> Step {
    if !evidence.setting.has_null {
        return Ok(None);
    }
    let run = &evidence.full().run;
    let body = run.bytes.body / run.requests.max(1);
    for (id, keep_alive) in [(Id::Null, true), (Id::NullConnecting, false)] {
        let experiment = evidence.setting.user(id, 0.0).with(|load| {
            load.request = Request::Null(NullContent::Bytes(body));
            load.keep_alive = keep_alive;
        });
        evidence.observe_if_reached(Experiment {
            length: Length::Seconds(0.8),
            warmup: Warmup::Short,
            ..experiment
        })?;
    }
    Ok(None)
}

/// A light load on the cheap path while the target is just saturated: with few connections more than it needs, so that not all that
/// the server has is taken by those that wait.
pub fn beside_rule(evidence: &Evidence) -> Step {
    if let Some([load, light]) = beside_experiments(evidence, &evidence.figures) {
        evidence.beside(load, light)?;
    }
    Ok(None)
}

fn beside_experiments(evidence: &Evidence, figures: &Figures) -> Option<[Experiment; 2]> {
    let setting = &evidence.setting;
    let (cheap, from) = (figures.cheap.as_ref()?, figures.ladder.saturated_from()?);
    // With the light load's own.
    let most = setting.max_connections.saturating_sub(1).min(setting.connections.max(from));
    let connections = (from + from / 2 + 1).min(most);
    if connections == 0 || setting.agents == Some(1) {
        return None;
    }
    let request = cheap.what;
    let (_, light) = cheap_experiments(evidence).into_iter().find(|(what, _)| *what == request)?;
    let light = Experiment { id: Id::LightLoad(request), ..light.with(|load| load.requests = None) };
    let load = setting.with_connections(connections, Id::Beside(request), 1.2);
    // The light load is to meet streams that are open.
    let warmup = if setting.streams.is_some() { Warmup::Short } else { load.warmup };
    Some([Experiment { warmup, ..load }, light])
}

fn beside(evidence: &Evidence, figures: &Figures) -> Option<Beside> {
    let request = figures.cheap.as_ref()?.what;
    if let Some(light) = evidence.last(Id::LightLoad(request)) {
        let load = evidence.last(Id::Beside(request))?;
        return Some(Beside {
            connections: load.run.plan.connections,
            connect_s: light.connect_median_s().unwrap_or(0.0),
            response_s: light.median_s(),
        });
    }
    let [load, _] = beside_experiments(evidence, figures)?;
    let unreached = evidence.is_unreached(load.id);
    unreached.then_some(Beside { connections: load.load.connections, connect_s: 0.0, response_s: None })
}

/// Returns the figures that follow from the observations so far.
pub fn figures(evidence: &Evidence) -> Figures {
    let setting = &evidence.setting;
    let good_rps = |id| evidence.last(id).map(Observation::good_rps);
    let figures = Figures {
        connections: setting.connections,
        in_flight: setting.connections * usize::from(setting.depth),
        generator_threads: setting.threads,
        same_machine: setting.same_machine,
        round_trip_s: round_trip_s(evidence),
        cheap: cheapest(evidence),
        ladder: ladder(evidence),
        null_rps: good_rps(Id::Null),
        null_rps_connecting: good_rps(Id::NullConnecting),
        weather: Weather::over(evidence.observations(), setting.same_machine),
        ..Figures::default()
    };
    let figures = match setting.streams {
        None => warm(with_alone(figures, evidence), setting),
        Some(_) => match alone(evidence) {
            Some(at) => streams::with_alone(figures, &evidence.observations()[at]),
            None => figures,
        },
    };
    let figures = with_full(figures, evidence);
    Figures { beside: beside(evidence, &figures), ..figures }
}

fn with_alone(figures: Figures, evidence: &Evidence) -> Figures {
    let Some(alone) = alone(evidence).map(|at| &evidence.observations()[at]) else { return figures };
    let Some(times) = alone.times.answered.or(alone.times.unanswered) else { return figures };
    let (mean_s, median_s) = (times.typical_us() / 1e6, times.median_us / 1e6);
    Figures {
        alone_least_s: times.min_us as f64 / 1e6,
        alone_mean_s: unpaused(mean_s, median_s, alone.stolen_s() / times.count.max(1) as f64),
        alone_median_s: median_s,
        alone_middle_s: times.quartiles_us.map(|(low, high)| (low / 1e6, high / 1e6)),
        ..figures
    }
}

/// Takes the time of one request of one connection, which sends them back to back, where single requests with pauses between them took far
/// longer: the service was cold then, or it or its disk had gone to sleep.
fn warm(figures: Figures, setting: &Setting) -> Figures {
    let back_to_back_s = figures.ladder.at(1).filter(|rps| *rps > 0.0 && setting.depth == 1).map(|rps| 1.0 / rps);
    match back_to_back_s {
        Some(each_s) if figures.alone_mean_s > COLD * each_s => Figures {
            alone_mean_s: each_s,
            alone_median_s: figures.alone_median_s.min(each_s),
            alone_middle_s: None,
            ..figures
        },
        _ => figures,
    }
}

fn with_full(figures: Figures, evidence: &Evidence) -> Figures {
    let Some(at) = full(evidence) else { return figures };
    let seen = &evidence.observations()[at];
    let stretch = seen.signals.as_ref().filter(|_| figures.same_machine).map_or(1.0, Signals::steal_factor);
    let is_again = seen.id == Id::FullSpread;
    let idle_workers = if is_again { idle_workers(evidence, at) } else { 0 };
    let uneven = first_full(evidence).filter(|_| is_again && idle_workers == 0);
    Figures {
        generator_busy: seen.run.generator.busy_share,
        generator_cores: seen.run.generator_cores().map(|cores| cores * stretch),
        signals: seen.signals.clone().map(Signals::without_steal),
        own_quota: seen.own_quota.clone(),
        idle_workers,
        uneven_rps: uneven.map(|at| evidence.observations()[at].good_rps()),
        ..figures
    }
}

/// Returns the least that any connection took to come about or TCP has seen before the service was loaded: a single one may have met
/// a busy machine.
fn round_trip_s(evidence: &Evidence) -> Option<f64> {
    let gentle = evidence.observations().iter().take_while(|seen| !is_rung(seen) && seen.id != Id::Full);
    let seen = gentle.flat_map(|seen| {
        let connect = seen.times.connect.map(|connect| connect.min_us);
        connect.into_iter().chain(seen.run.sockets.and_then(|sockets| sockets.min_rtt_us))
    });
    seen.min().map(|us| us as f64 / 1e6)
}

fn cheapest(evidence: &Evidence) -> Option<Cheap> {
    let tried =
        cheap_experiments(evidence).into_iter().filter_map(|(what, tried)| cheap(what, evidence.last(tried.id)?));
    tried.min_by(|a, b| a.alone_s.total_cmp(&b.alone_s))
}

/// Returns whether an observation is of a rung below the user's load.
fn is_rung(seen: &Observation) -> bool {
    matches!(seen.id, Id::Rung(_))
}

fn ladder(evidence: &Evidence) -> Ladder {
    let rung = |seen: &Observation| Rung {
        connections: seen.run.plan.connections,
        rps: seen.good_rps(),
        median_s: seen.median_s().unwrap_or(0.0),
    };
    let full = full(evidence).map(|at| &evidence.observations()[at]);
    let more = evidence.last(Id::DoubleConnected).or_else(|| evidence.last(Id::Double));
    let more = more.filter(|_| !evidence.below_errors);
    // One stream is open all the time, as in a rung: single requests pause.
    let alone = evidence.setting.streams.and(alone(evidence)).filter(|_| evidence.setting.connections > 1);
    let alone = alone.filter(|_| evidence.setting.depth == 1).map(|at| &evidence.observations()[at]);
    Ladder(alone.into_iter().chain(rungs_of(evidence)).chain(full).chain(more).map(rung).collect())
}

/// Returns the observations of loads below the user's.
pub fn rungs_of(evidence: &Evidence) -> impl Iterator<Item = &Observation> {
    let planned = evidence.setting.connections;
    evidence.observations().iter().filter(move |seen| is_rung(seen) && seen.run.plan.connections < planned)
}

/// A mean response time without the hypervisor's pauses, which are not the service's: they delayed a request by as much as was taken
/// for each at most, and the median hardly at all.
fn unpaused(mean_s: f64, median_s: f64, paused_s: f64) -> f64 {
    (mean_s - paused_s).max(median_s.min(mean_s))
}

/// Returns the share of the machine's CPU that neither server nor generator used, nor what the server talks to; 0 if that is unknown.
fn others_share(evidence: &Evidence, seen: &Observation) -> f64 {
    disturbance(seen, evidence.setting.same_machine).map_or(0.0, |disturbance| disturbance.others_share)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mean_loses_the_hypervisors_pauses_but_not_what_the_service_takes_now_and_then() {
        let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-12, "{a} {b}");
        close(unpaused(0.005, 0.0004, 0.0036), 0.0014);
        close(unpaused(0.005, 0.0004, 0.0), 0.005);
        close(unpaused(0.005, 0.0004, 0.02), 0.0004);
        // Mostly slow, and quick now and then.
        close(unpaused(0.003, 0.004, 0.002), 0.003);
    }
}
