//! The search: two rates with the limit between them, a bisection, and a longer step that confirms the lower one.

use super::ask::{Ask, Bench, Load, Purpose};
use super::found::Found;
use super::reading::Reading;
use super::trials::{FAR, FAR_BELOW, Trials};
use std::time::Duration;
use torr_gauge::verdict::{LoadUnit, StepReason};
use torr_press::RunError;

/// The ratio of the two rates at which the bisection ends.
const NEAR: f64 = 1.05;
/// The first rate as a share of the closed loop's throughput.
const GENTLE: f64 = 1.0 / 8.0;
/// The share of the closed loop's throughput from which random arrivals are likely to queue for too long.
const NEARLY: f64 = 0.9;
/// The rate of the first step if one connection may be too much, in requests per second.
const MILD: f64 = 10.0;
/// The streams at a time of the step after that with one.
const FEW: f64 = 2.0;
/// The rate of the next step if that failed.
const MILDEST: f64 = 4.0;
/// The lowest rate.
const LOWEST: f64 = 1.0;
/// The number of requests of the first steps.
const REQUESTS: u64 = 10;
const FIRST: Duration = Duration::from_secs(3);
/// The share of the budget of a first step with streams, one after the other.
const ALONE_SHARE: u32 = 12;

/// Runs the lightest loads, which show the response times of an idle service. Returns the failed step if all failed, `None` if one
/// was kept or the search was interrupted.
pub(super) fn base<B: Bench>(trials: &mut Trials<'_, B>) -> Result<Option<Reading>, RunError> {
    if trials.settings.unit == LoadUnit::Streams {
        return one_stream(trials);
    }
    let most = trials.settings.max_rate;
    let first = match most {
        None => Load::Connections(1),
        Some(most) => Load::Rate(most.min(MILD)),
    };
    let longest = FIRST.max(trials.settings.budget / 6);
    let mut failed = None;
    for (load, why) in
        [(first, StepReason::Unloaded), (Load::Rate(most.unwrap_or(MILDEST).min(MILDEST)), StepReason::FewerRequests)]
    {
        let ask = Ask {
            load,
            begins_per_s: None,
            warmup: Duration::ZERO,
            length: match load {
                Load::Connections(_) | Load::Streams(_) => FIRST,
                Load::Rate(rate) => Duration::from_secs_f64((REQUESTS as f64 / rate).min(longest.as_secs_f64())),
            },
            requests: Some(REQUESTS),
            purpose: Purpose::Base,
            why,
            may_end_early: false,
        };
        let Some(reading) = trials.recorded(&ask)? else { return Ok(None) };
        if reading.kept {
            trials.base = reading.latency_us;
            return Ok(None);
        }
        failed = Some(reading);
    }
    Ok(failed)
}

/// Runs one stream at a time, which shows the pace of the service. Returns the failed step; `None` if it was kept or the search was
/// interrupted.
fn one_stream<B: Bench>(trials: &mut Trials<'_, B>) -> Result<Option<Reading>, RunError> {
    let length = FIRST.max(trials.settings.budget / ALONE_SHARE);
    let ask = Ask { may_end_early: false, ..trials.ask(1.0, length, Purpose::Base, StepReason::StreamAlone) };
    let Some(reading) = trials.recorded(&ask)? else { return Ok(None) };
    if !reading.kept {
        return Ok(Some(reading));
    }
    trials.base = reading.latency_us;
    Ok(None)
}

/// Returns whether no lighter load can be tried.
pub(super) fn is_least(failed: &Reading) -> bool {
    failed.purpose == Purpose::Base || failed.offered().is_some_and(|load| load <= LOWEST)
}

/// Searches from a low rate on.
pub(super) fn search<B: Bench>(trials: &mut Trials<'_, B>) -> Result<Found, RunError> {
    let mut found = Found::default();
    let mut near = NEAR;
    loop {
        if found.bounds().is_none() && !has_most(trials, &found) {
            bracket(trials, &mut found)?;
        }
        if !bisect(trials, &mut found, near)? {
            break;
        }
        match confirm(trials, &mut found)? {
            // After a confirmation below, the remaining distance is bisected as well.
            Confirmed::Kept if !is_near(trials, &found, near) && can_go_on(trials, &found, near) => {}
            Confirmed::Kept if challenge(trials, &mut found)? => {}
            Confirmed::Kept | Confirmed::NoTime => break,
            Confirmed::Failed => {
                // So near to the limit, outcomes are random.
                near *= NEAR;
                // The confirmation has priority over the overload.
                trials.reserve = trials.settings.confirmation();
            }
        }
    }
    Ok(found)
}

/// Returns whether the lowest failed rate is so near to the highest kept one that the bisection is complete.
fn is_near<B: Bench>(trials: &Trials<'_, B>, found: &Found, near: f64) -> bool {
    found.bounds().is_none_or(|(kept, failed)| failed / kept <= near || trials.between(kept, failed).is_none())
}

/// Returns whether there is time for a step between the two.
fn can_go_on<B: Bench>(trials: &Trials<'_, B>, found: &Found, near: f64) -> bool {
    found.bounds().is_some_and(|(kept, failed)| {
        let rate = (kept * failed).sqrt();
        trials.has_time(step_length(trials, rate, failed / kept, near))
    })
}

/// Returns the length of a bisection's step, with time for all that follow and some repetitions.
fn step_length<B: Bench>(trials: &Trials<'_, B>, rate: f64, distance: f64, near: f64) -> Duration {
    let steps = (distance.ln() / near.ln()).log2().ceil().max(1.0) + 1.0;
    trials.length_within(rate, 1.0 / steps)
}

/// Returns whether the highest permitted load was kept.
fn has_most<B: Bench>(trials: &Trials<'_, B>, found: &Found) -> bool {
    found.kept().is_some_and(|kept| kept >= trials.most())
}

/// Doubles a low rate until one fails; if the first fails, halves it until one is kept.
fn bracket<B: Bench>(trials: &mut Trials<'_, B>, found: &mut Found) -> Result<(), RunError> {
    let most = trials.most();
    let unit = trials.settings.unit;
    let ceiling = trials.ceiling;
    let begin = match (found.kept(), found.failed()) {
        (Some(kept), _) => next(kept, ceiling),
        (None, Some(failed)) => failed / 2.0,
        (None, None) if unit == LoadUnit::Streams => FEW,
        (None, None) => ceiling.map_or(MILD, |ceiling| ceiling * GENTLE),
    };
    let mut rate = begin.max(LOWEST).min(most);
    while found.bounds().is_none() {
        // A rate far below the maximum needs no precise result: higher ones follow.
        let gentle = ceiling.is_some_and(|ceiling| rate < FAR_BELOW * ceiling);
        let length = match unit {
            LoadUnit::Streams => trials.glance(),
            LoadUnit::Requests if gentle => trials.settings.step(),
            LoadUnit::Requests => trials.shortest(),
        };
        if !trials.has_time(length) {
            break;
        }
        let why = match (unit, ceiling) {
            (LoadUnit::Streams, _) => StepReason::Streams(trials.settings.streams(rate)),
            (LoadUnit::Requests, Some(ceiling)) => StepReason::ShareOfClosedLoop(rate / ceiling),
            (LoadUnit::Requests, None) => StepReason::LowRate,
        };
        let Some(tried) = trials.try_rate(rate, length, Purpose::Bracket, why)? else { break };
        let lowest = !tried.kept && rate <= LOWEST;
        rate = if tried.kept { next(rate, ceiling).min(most) } else { (rate / 2.0).max(LOWEST) };
        found.take(tried);
        if has_most(trials, found) || lowest {
            break;
        }
    }
    Ok(())
}

/// Returns the rate after one that was kept: twice as much, or a lower one that is expected to fail.
fn next(kept: f64, ceiling: Option<f64>) -> f64 {
    let should_fail = ceiling.map(|ceiling| FAR * ceiling).filter(|&rate| rate > kept * NEAR);
    should_fail.map_or(2.0 * kept, |rate| rate.min(2.0 * kept))
}

/// Bisects the ratio of the two rates until they are near. Returns whether there is a rate to confirm.
fn bisect<B: Bench>(trials: &mut Trials<'_, B>, found: &mut Found, near: f64) -> Result<bool, RunError> {
    while let Some((kept, failed)) = found.bounds().filter(|_| !is_near(trials, found, near)) {
        let Some(rate) = trials.between(kept, failed) else { break };
        let length = step_length(trials, rate, failed / kept, near);
        // A rate near the closed loop's throughput is confirmed before higher ones are tried.
        let is_nearly_all = trials.ceiling.is_some_and(|ceiling| kept >= NEARLY * ceiling);
        if !trials.has_time(length) || (is_nearly_all && !found.is_confirmed()) {
            break;
        }
        let why = match trials.settings.unit {
            LoadUnit::Requests => StepReason::Between { kept_rps: kept, failed_rps: failed },
            LoadUnit::Streams => StepReason::BetweenStreams { kept: kept as usize, failed: failed as usize },
        };
        let Some(tried) = trials.try_rate(rate, length, Purpose::Bisect, why)? else { return Ok(false) };
        found.take(tried);
    }
    Ok(found.kept().is_some() && !trials.bench.stopped())
}

/// The outcome of a confirmation.
enum Confirmed {
    Kept,
    Failed,
    NoTime,
}

/// Runs a longer step at the highest kept rate. A failure counts if it occurs twice, or if the rate is near the closed loop's
/// throughput.
fn confirm<B: Bench>(trials: &mut Trials<'_, B>, found: &mut Found) -> Result<Confirmed, RunError> {
    let Some(rate) = found.kept() else { return Ok(Confirmed::NoTime) };
    if found.is_confirmed() {
        return Ok(Confirmed::Kept);
    }
    let after = trials.reserve.saturating_sub(trials.settings.confirmation());
    let wait = trials.settings.patience() / 4;
    let expected = trials.ceiling.is_some_and(|ceiling| rate >= NEARLY * ceiling);
    for (keep_back, why) in [(after.max(wait), StepReason::Longer), (wait, StepReason::Again)] {
        let room = trials.left().saturating_sub(keep_back + trials.time_of(Duration::ZERO)).div_f64(1.2);
        let length = (trials.length(rate) * 2).min(room);
        if length < trials.shortest() {
            return Ok(Confirmed::NoTime);
        }
        let Some(tried) = trials.try_rate(rate, length, Purpose::Confirm, why)? else { return Ok(Confirmed::NoTime) };
        let (kept, disturbed) = (tried.kept, tried.reading.is_disturbed());
        found.take(tried);
        if kept {
            return Ok(Confirmed::Kept);
        }
        if expected && !disturbed {
            break;
        }
    }
    Ok(Confirmed::Failed)
}

/// Retries the lowest failed rate if its failure is doubtful. Returns whether it was kept, so that the search continues above it.
fn challenge<B: Bench>(trials: &mut Trials<'_, B>, found: &mut Found) -> Result<bool, RunError> {
    let expected = trials.ceiling.map_or(0.0, |ceiling| FAR_BELOW * ceiling);
    let Some(rate) = found.failed() else { return Ok(false) };
    let length = trials.length_within(rate, 0.5);
    if !trials.has_time(length) || found.doubtful(expected).is_none() {
        return Ok(false);
    }
    let why = StepReason::FailedRateAgain;
    let Some(tried) = trials.try_rate(rate, length, Purpose::Bisect, why)? else { return Ok(false) };
    let kept = tried.kept;
    found.take(tried);
    Ok(kept)
}
