//! The most that a service sustains, how it behaves on the way there, and what happens above.
//!
//! The order is gentle first: a few requests, a ladder of connections in a closed loop, which tells about where its
//! ceiling is, rates in an open loop from an eighth of that on, and at last a little more than what was found.

mod ask;
mod disturbance;
mod found;
mod ladder;
mod outcome;
mod overload;
mod press;
mod reading;
mod search;
mod settings;
#[cfg(test)]
mod simulated;
mod slo;
mod taken;
#[cfg(test)]
mod tests;
mod trials;
mod usl;
mod words;

pub use ask::{Ask, Bench, Load, Purpose};
pub use disturbance::Disturbance;
pub use found::Spread;
pub use ladder::Rung;
pub use outcome::{Answer, Connections, Outcome, SCHEMA, Sustained};
pub use overload::{ABOVE, Course, Overload};
pub use press::Press;
pub use reading::Reading;
pub use settings::Settings;
pub use slo::Slo;
pub use taken::Taken;
pub use usl::{Fit, fit};

use found::{Concluded, Found};
use torr_press::RunError;
use trials::Trials;

/// A limit is told as one if the rate above it that failed is no further from it than this; otherwise as "at least".
const TOLD: f64 = 1.25;

/// The part of a closed loop's throughput from which an open loop may fail for want of connections.
const WANTING: f64 = 0.6;

/// What is searched, for the outcome.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct About {
    /// The URL.
    pub target: String,
    /// When the search began (RFC 3339, UTC).
    pub started_at: String,
    /// How requests are spread over time.
    pub arrivals: String,
}

/// Finds the limit.
///
/// # Errors
/// [`RunError`], if the service cannot be reached in the beginning or the system refuses. A service that is gone later
/// has failed at that step.
pub fn find(bench: &mut impl Bench, settings: &Settings, about: About) -> Result<Outcome, RunError> {
    let mut trials = Trials::new(bench, settings);
    let base_failed = search::base(&mut trials)?;
    let mut found = Found::new(base_failed);
    let mut rungs = Vec::new();
    if trials.base.is_some() && !trials.bench.stopped() {
        rungs = ladder::climb(&mut trials)?;
        trials.ceiling = ladder::ceiling(&rungs);
        found = search::search(&mut trials)?;
    }
    let found = found.conclude(&trials.steps);
    let disturbance = Disturbance::over(&trials.steps);
    let limit = found.kept.as_ref().and_then(Reading::rate);
    let above = limit.map(|limit| limit * ABOVE).filter(|above| settings.max_rate.is_none_or(|most| *above <= most));
    let overload = match (limit, above, trials.bench.stopped()) {
        (Some(limit), Some(_), false) if trials.left() > settings.step() => overload::try_it(&mut trials, limit)?,
        _ => None,
    };
    let interrupted = trials.bench.stopped();
    let answer = answer(&found, &rungs, settings, interrupted);
    let sustained = found.kept.as_ref().and_then(|reading| {
        Some(Sustained {
            rate: reading.rate()?,
            latency_us: reading.latency_us,
            error_share: reading.error_share,
            connections: reading.connections,
            seconds: reading.seconds,
            confirmed: found.confirmed,
        })
    });
    let points: Vec<_> =
        rungs.iter().filter(|rung| rung.counts()).map(|rung| (rung.connections as f64, rung.good_per_s)).collect();
    let connections = sustained.as_ref().and_then(|s| Some(Connections::at(s.rate, s.latency_us?.mean)));
    let failed = found.failed.as_ref();
    let reason = words::reason(answer, failed, interrupted);
    Ok(Outcome {
        schema: SCHEMA.into(),
        torr: env!("CARGO_PKG_VERSION").into(),
        target: about.target,
        started_at: about.started_at,
        slo: settings.slo.texts(),
        arrivals: about.arrivals,
        budget_s: settings.budget.as_secs_f64(),
        spent_s: trials.spent().as_secs_f64(),
        max_rate: settings.max_rate,
        max_connections: settings.max_connections,
        interrupted,
        answer,
        summary: words::summary(answer, sustained.as_ref(), &settings.slo, &reason),
        reason,
        fails_at: failed.and_then(|reading| reading.rate()),
        failure: failed.and_then(|reading| reading.failure.clone()),
        verdict: failed.and_then(|reading| reading.verdict.clone()),
        sustained,
        spread: found.spread,
        disturbance,
        base_us: trials.base,
        knee: ladder::knee(&rungs),
        fit: usl::fit(&points),
        ladder: rungs,
        connections,
        overload,
        steps: trials.steps,
    })
}

/// What kind of answer was found.
fn answer(found: &Concluded, rungs: &[Rung], settings: &Settings, interrupted: bool) -> Answer {
    let Some(kept) = &found.kept else {
        let never = found.failed.as_ref().is_some_and(search::is_least) && !interrupted;
        return if never { Answer::Never } else { Answer::Unknown };
    };
    let Some(failed) = &found.failed else {
        let is_most = kept.rate().zip(settings.max_rate).is_some_and(|(kept, most)| kept >= most);
        return if is_most { Answer::AtLeastMaxRate } else { Answer::AtLeastTime };
    };
    let all_connections = failed.connections >= settings.max_connections as u64;
    let climbed = rungs.last().filter(|rung| rung.connections == settings.max_connections);
    // What fails far below what the same connections bring in a closed loop does not fail for want of them.
    let wanting = failed.rate().zip(climbed).is_some_and(|(rate, rung)| rate >= WANTING * rung.good_per_s);
    let apart = failed.rate().zip(kept.rate()).is_some_and(|(failed, kept)| failed / kept > TOLD);
    if failed.generator.is_some() {
        Answer::AtLeastGenerator
    } else if all_connections && wanting && ladder::still_grows(rungs) {
        Answer::AtLeastConnections
    } else if apart {
        Answer::AtLeastTime
    } else {
        Answer::Limit
    }
}
