//! The search for the highest rate that a service sustains, and its behaviour below and above.
//!
//! Light loads come first: a few requests, a ladder of connections in a closed loop, which shows about where the maximum is, rates
//! in an open loop from an eighth of that, and at last a little more than the sustained rate.

mod ask;
mod disturbance;
mod facts;
mod found;
mod ladder;
mod outcome;
mod overload;
#[cfg(test)]
mod paced;
mod press;
mod reading;
mod search;
mod settings;
#[cfg(test)]
mod simulated;
mod slo;
mod streams;
mod taken;
#[cfg(test)]
mod tests;
mod trials;
mod usl;

pub use ask::{Ask, Bench, Load, Purpose};
pub use disturbance::Disturbance;
pub use found::Spread;
pub use ladder::Rung;
pub use outcome::{Connections, Outcome, SCHEMA, Sustained};
pub use overload::Overload;
pub use press::{Press, RunStep};
pub use reading::Reading;
pub use settings::Settings;
pub use slo::Slo;
pub use streams::StreamReading;
pub use taken::Taken;
pub use usl::{Fit, fit};

use found::{Concluded, Found};
use overload::ABOVE;
use torr_gauge::verdict::{Fact, LimitKind, LoadUnit};
use torr_press::RunError;
use trials::Trials;

/// The largest ratio of the lowest failed rate to the sustained one for a limit; above it the result is "at least".
const LIMIT_RATIO: f64 = 1.25;

/// The share of a closed loop's throughput from which an open loop may fail for lack of connections.
const WANTING: f64 = 0.6;

/// The facts of a search that are copied into its outcome.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct About {
    /// The URL.
    pub target: String,
    /// When the search began (RFC 3339, UTC).
    pub started_at: String,
    /// The distribution of arrivals.
    pub arrivals: String,
}

/// Finds the limit.
///
/// # Errors
/// [`RunError`], if the service cannot be reached in the first step, or a system call fails. A service that is unreachable
/// later has failed at that step.
pub fn find(bench: &mut impl Bench, settings: &Settings, about: About) -> Result<Outcome, RunError> {
    let with_gaps;
    let mut trials = Trials::new(bench, settings);
    let base_failed = search::base(&mut trials)?;
    let gap_us = trials.alone.and_then(streams::Alone::gap_us);
    if let Some(gap_us) = gap_us.filter(|_| settings.keeps_gaps && base_failed.is_none()) {
        with_gaps = Settings { slo: settings.slo.clone().with_gaps_of(gap_us), ..settings.clone() };
        trials.settings = &with_gaps;
    }
    let settings = trials.settings;
    let mut found = Found::new(base_failed);
    let mut rungs = Vec::new();
    if trials.base.is_some() && !trials.bench.stopped() {
        if settings.unit == LoadUnit::Requests {
            rungs = ladder::climb(&mut trials)?;
            trials.ceiling = ladder::ceiling(&rungs);
        }
        found = search::search(&mut trials)?;
    }
    let found = found.conclude(&trials.steps);
    let disturbance = Disturbance::over(&trials.steps);
    let is_permitted = |limit: &&Reading| limit.offered().is_some_and(|limit| limit * ABOVE <= trials.most());
    let limit = found.kept.as_ref().filter(is_permitted);
    let overload = match (limit, trials.bench.stopped()) {
        (Some(limit), false) if trials.has_time_after() => overload::try_it(&mut trials, limit)?,
        _ => None,
    };
    let interrupted = trials.bench.stopped();
    let kind = result_kind(&found, &rungs, &trials, interrupted);
    let sustained = found.kept.as_ref().and_then(|reading| {
        Some(Sustained {
            rate: reading.rate().or_else(|| reading.streams.map(|streams| streams.begun_per_s))?,
            streams: reading.streams,
            latency_us: reading.latency_us,
            error_share: reading.error_share,
            connections: reading.connections,
            seconds: reading.seconds,
            confirmed: found.confirmed,
        })
    });
    let points: Vec<_> =
        rungs.iter().filter(|rung| rung.counts()).map(|rung| (rung.connections as f64, rung.good_per_s)).collect();
    let connections = sustained.as_ref().filter(|sustained| sustained.streams.is_none());
    let connections = connections.and_then(|s| Some(Connections::at(s.rate, s.latency_us?.mean, settings)));
    let failed = found.failed.as_ref();
    Ok(Outcome {
        schema: SCHEMA.into(),
        torr: env!("CARGO_PKG_VERSION").into(),
        target: about.target,
        started_at: about.started_at,
        unit: settings.unit,
        slo: settings.slo.texts(),
        arrivals: about.arrivals,
        budget_s: settings.budget.as_secs_f64(),
        spent_s: trials.spent().as_secs_f64(),
        max_rate: settings.max_rate,
        max_connections: settings.max_connections,
        interrupted,
        kind,
        fails_at: failed.and_then(Reading::offered),
        failed: found.failed.clone(),
        sustained,
        spread: found.spread,
        disturbance,
        base_us: trials.base,
        base_gap_us: trials.alone.and_then(streams::Alone::gap_us),
        knee: ladder::knee(&rungs),
        fit: usl::fit(&points),
        ladder: rungs,
        connections,
        overload,
        steps: trials.steps,
    })
}

/// Returns the kind of the result.
fn result_kind<B: Bench>(found: &Concluded, rungs: &[Rung], trials: &Trials<'_, B>, interrupted: bool) -> LimitKind {
    let settings = trials.settings;
    let is_streams = settings.unit == LoadUnit::Streams;
    let Some(kept) = &found.kept else {
        // Streams without a gap in a step have not missed an objective of gaps.
        let is_seen = |failed: &&Reading| !matches!(failed.failure, Some(Fact::NoGap { .. }));
        let never = found.failed.as_ref().filter(is_seen).is_some_and(search::is_least) && !interrupted;
        return if never { LimitKind::Never } else { LimitKind::Unknown };
    };
    let Some(failed) = &found.failed else {
        let is_most = kept.offered().is_some_and(|kept| kept >= trials.most());
        let all_slots = is_streams && kept.offered().is_some_and(|kept| kept as usize >= settings.streams(f64::MAX));
        return match is_most {
            true if all_slots => LimitKind::AtLeastConnections,
            true => LimitKind::AtLeastMaxRate,
            false => LimitKind::AtLeastTime,
        };
    };
    let all_connections = failed.connections >= settings.max_connections as u64;
    let climbed = rungs.last().filter(|rung| rung.connections == settings.max_connections);
    // A failure far below the closed loop's throughput with these connections is not one of connections.
    let wanting = failed.rate().zip(climbed).is_some_and(|(rate, rung)| rate >= WANTING * rung.good_per_s);
    let apart = failed
        .offered()
        .zip(kept.offered())
        .is_some_and(|(failed, kept)| failed / kept > LIMIT_RATIO && trials.between(kept, failed).is_some());
    if failed.generator.is_some() {
        LimitKind::AtLeastGenerator
    } else if all_connections && wanting && ladder::still_grows(rungs) {
        LimitKind::AtLeastConnections
    } else if apart {
        LimitKind::AtLeastTime
    } else {
        LimitKind::Limit
    }
}
