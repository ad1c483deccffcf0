//! A closed loop with 1, 2, 4, 8 ... connections: how throughput grows with them, and about where it ends.

use super::ask::{Ask, Bench, Load, Purpose};
use super::trials::Trials;
use serde::Serialize;
use torr_gauge::latency::Summary;
use torr_gauge::verdict::StepReason;
use torr_press::RunError;

/// The gain of a doubling below which throughput no longer grows.
const GROWS: f64 = 1.05;
/// Rungs without growth after which there is no more to see: it takes some to tell a level line from a fall.
const LEVEL: usize = 3;
/// Rungs that the law of throughput over connections should have.
const FEWEST: usize = 6;
/// By how much throughput may grow with twice the connections, with something for chance.
const DOUBLED: f64 = 2.2;
/// The share of failures from which more connections would only do harm.
const REFUSED: f64 = 0.1;

/// A number of connections, and what it brought.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Rung {
    /// Connections, each always with one request in flight.
    pub connections: usize,
    /// Requests per second that were answered with a status below 400.
    pub good_per_s: f64,
    /// The share of the requests that failed.
    pub error_share: f64,
    /// Response times.
    pub latency_us: Option<Summary>,
    /// Whether the generator had no pause, so that the service may give more.
    pub generator_saturated: bool,
}

impl Rung {
    /// Whether it says something of the service.
    pub fn counts(&self) -> bool {
        self.error_share < REFUSED && !self.generator_saturated && self.good_per_s > 0.0
    }
}

/// Climbs until throughput no longer grows, as high as is allowed and there is time for.
pub(super) fn climb<B: Bench>(trials: &mut Trials<'_, B>) -> Result<Vec<Rung>, RunError> {
    let mut rungs: Vec<Rung> = Vec::new();
    let length = trials.settings.rung();
    let until = trials.left().saturating_sub(trials.settings.climb());
    let most = trials.settings.max_connections;
    let mut connections = 1;
    let alone = trials.base.map_or(0.0, |base| 1e6 / base.min.max(1) as f64);
    if trials.settings.max_rate.is_some_and(|most| alone > most) {
        // One connection alone would be more than is allowed.
        return Ok(rungs);
    }
    loop {
        let ask = Ask {
            load: Load::Connections(connections),
            begins_per_s: None,
            warmup: length.mul_f64(0.2),
            length,
            requests: None,
            purpose: Purpose::Ladder,
            why: StepReason::Rung(connections),
            may_end_early: false,
        };
        let Some(reading) = trials.step(&ask)? else { break };
        rungs.push(Rung {
            connections,
            good_per_s: reading.good_per_s,
            error_share: reading.error_share,
            latency_us: reading.latency_us,
            generator_saturated: reading.generator_saturated,
        });
        let over_rate = trials.settings.max_rate.is_some_and(|most| reading.answered_per_s * DOUBLED > most);
        let done = connections == most || reading.error_share >= REFUSED || over_rate || is_level(&rungs);
        if done || trials.left() <= until {
            break;
        }
        connections = (connections * 2).min(most);
    }
    trials.settle()?;
    Ok(rungs)
}

/// Whether the last rungs brought nothing more than those before.
fn is_level(rungs: &[Rung]) -> bool {
    let Some(before) = rungs.len().checked_sub(LEVEL) else { return false };
    let best = |rungs: &[Rung]| rungs.iter().map(|rung| rung.good_per_s).fold(0.0, f64::max);
    rungs.len() >= FEWEST && best(&rungs[before..]) < GROWS * best(&rungs[..before])
}

/// The most that any number of connections brought.
pub(super) fn ceiling(rungs: &[Rung]) -> Option<f64> {
    rungs.iter().map(|rung| rung.good_per_s).filter(|&rate| rate > 0.0).reduce(f64::max)
}

/// Whether throughput still grew with the last doubling: then more connections might bring more.
pub(super) fn still_grows(rungs: &[Rung]) -> bool {
    match rungs {
        [.., before, last] => last.counts() && last.good_per_s >= 1.25 * before.good_per_s,
        _ => true,
    }
}

/// Returns the connections at which `N X(1)`, the line of light load, reaches `X_max`: fewer connections cannot reach it, more of
/// them mostly wait (E. Lazowska et al., *Quantitative System Performance*, 1984, chapter 5). `None` if the ceiling was
/// not reached.
pub(super) fn knee(rungs: &[Rung]) -> Option<f64> {
    let counted: Vec<Rung> = rungs.iter().filter(|rung| rung.counts()).copied().collect();
    let one = counted.first().filter(|rung| rung.connections == 1)?;
    (counted.len() > 2 && !still_grows(&counted)).then(|| ceiling(&counted).map(|most| most / one.good_per_s))?
}
