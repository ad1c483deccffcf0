//! The search itself: two rates with the limit between them, then nearer and nearer, then the lower one for longer.

use super::ask::{Ask, Bench, Load, Purpose};
use super::reading::Reading;
use super::trials::{Trials, Tried};
use std::time::Duration;
use torr_press::RunError;

/// How near the two rates are to come: the higher by the lower.
const NEAR: f64 = 1.05;
/// The part of the closed loop's throughput to begin with.
const GENTLE: f64 = 1.0 / 8.0;
/// The part of the closed loop's throughput up to which a step is a step on the way.
const FAR_BELOW: f64 = 0.6;
/// What is pressed first where not even one connection at a time may be too much: requests per second.
const MILD: f64 = 10.0;
/// What is pressed if that failed.
const MILDEST: f64 = 4.0;
/// The lowest rate.
const LOWEST: f64 = 1.0;
/// How many requests the first steps have, and how long these may take if the budget is small.
const REQUESTS: u64 = 10;
const FIRST: Duration = Duration::from_secs(3);

/// Where the limit lies.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// Rates that were kept to, ascending.
    pub kept: Vec<Tried>,
    /// The lowest that was not.
    pub failed: Option<Tried>,
    /// Whether the highest kept one was kept to once more, for longer.
    pub confirmed: bool,
    /// Whether it is the highest that was allowed.
    pub is_most: bool,
}

impl Found {
    fn take(&mut self, tried: Tried) {
        if tried.kept {
            self.kept.push(tried);
        } else {
            self.failed = Some(tried);
        }
    }

    /// The highest rate that was kept to, and the lowest that was not.
    fn bounds(&self) -> Option<(f64, f64)> {
        Some((self.kept.last()?.reading.rate()?, self.failed.as_ref()?.reading.rate()?))
    }
}

/// Presses as little as makes sense, which tells the response times of a service that has nothing else to do. Gives the
/// step that failed if all did, and nothing if there is ground to stand on or somebody ended it.
pub(super) fn base<B: Bench>(trials: &mut Trials<'_, B>) -> Result<Option<Reading>, RunError> {
    let most = trials.settings.max_rate;
    let first = match most {
        None => Load::Connections(1),
        Some(most) => Load::Rate(most.min(MILD)),
    };
    let longest = FIRST.max(trials.settings.budget / 6);
    let mut failed = None;
    for (load, why) in [
        (first, "a few requests: how fast is it with nothing else to do?"),
        (Load::Rate(most.unwrap_or(MILDEST).min(MILDEST)), "fewer of them: does it answer these?"),
    ] {
        let ask = Ask {
            load,
            warmup: Duration::ZERO,
            length: match load {
                Load::Connections(_) => FIRST,
                Load::Rate(rate) => Duration::from_secs_f64((REQUESTS as f64 / rate).min(longest.as_secs_f64())),
            },
            requests: Some(REQUESTS),
            purpose: Purpose::Base,
            why: why.to_owned(),
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

/// Whether there is nothing less to try.
pub(super) fn is_least(tried: &Tried) -> bool {
    tried.reading.purpose == Purpose::Base || tried.reading.rate().is_some_and(|rate| rate <= LOWEST)
}

/// From a gentle rate on.
pub(super) fn search<B: Bench>(trials: &mut Trials<'_, B>) -> Result<Found, RunError> {
    let mut found = Found::default();
    let mut near = NEAR;
    loop {
        if found.kept.is_empty() || (found.failed.is_none() && !found.is_most) {
            bracket(trials, &mut found)?;
        }
        if !bisect(trials, &mut found, near)? {
            break;
        }
        let Some(tried) = confirm(trials, &found)? else { break };
        // If it had been kept to by chance, the limit is lower.
        found.kept.pop();
        found.confirmed = tried.kept;
        found.is_most &= tried.kept;
        found.take(tried);
        if found.confirmed {
            break;
        }
        // So near to the limit it is chance that decides.
        near *= NEAR;
    }
    Ok(found)
}

/// Doubles from a gentle beginning until a rate fails; where already the beginning does, halves until one does not.
fn bracket<B: Bench>(trials: &mut Trials<'_, B>, found: &mut Found) -> Result<(), RunError> {
    let most = trials.settings.max_rate.unwrap_or(f64::INFINITY);
    let ceiling = trials.ceiling;
    let begin = match found.failed.as_ref().and_then(|tried| tried.reading.rate()) {
        Some(failed) => failed / 2.0,
        None => ceiling.map_or(MILD, |ceiling| ceiling * GENTLE),
    };
    let mut rate = begin.max(LOWEST).min(most);
    while found.failed.is_none() || found.kept.is_empty() {
        // What is far below the ceiling does not have to be told well: what comes above is pressed again.
        let gentle = ceiling.is_some_and(|ceiling| rate < FAR_BELOW * ceiling);
        let length = if gentle { trials.settings.step() } else { trials.shortest() };
        if !trials.has_time(length) {
            break;
        }
        let why = match ceiling {
            Some(ceiling) => format!("{:.0}% of what a closed loop came to", 100.0 * rate / ceiling),
            None => "from a gentle beginning on".to_owned(),
        };
        let Some(tried) = trials.try_rate(rate, length, Purpose::Bracket, &why)? else { break };
        found.is_most = tried.kept && rate >= most;
        let lowest = !tried.kept && rate <= LOWEST;
        rate = if tried.kept { (rate * 2.0).min(most) } else { (rate / 2.0).max(LOWEST) };
        found.take(tried);
        if found.is_most || lowest {
            break;
        }
    }
    Ok(())
}

/// Halves the distance, as a ratio, until the two are near. Says whether there is something to confirm.
fn bisect<B: Bench>(trials: &mut Trials<'_, B>, found: &mut Found, near: f64) -> Result<bool, RunError> {
    while let Some((kept, failed)) = found.bounds().filter(|(kept, failed)| failed / kept > near) {
        let rate = (kept * failed).sqrt();
        // Each step halves the distance, and some have to be repeated.
        let steps = ((failed / kept).ln() / near.ln()).log2().ceil().max(1.0) + 1.0;
        let length = trials.length_within(rate, 1.0 / steps);
        if !trials.has_time(length) {
            break;
        }
        let why = format!("between {kept:.0} (kept) and {failed:.0} (failed)");
        let Some(tried) = trials.try_rate(rate, length, Purpose::Bisect, &why)? else { return Ok(false) };
        found.take(tried);
    }
    Ok(!found.kept.is_empty() && !trials.bench.stopped())
}

/// Presses the highest rate that was kept to once more, for longer. `None` if there is no time.
fn confirm<B: Bench>(trials: &mut Trials<'_, B>, found: &Found) -> Result<Option<Tried>, RunError> {
    let Some(rate) = found.kept.last().and_then(|tried| tried.reading.rate()) else { return Ok(None) };
    let room = trials.left().saturating_sub(trials.settings.after()).div_f64(1.2);
    let length = (trials.length(rate) * 2).min(room);
    if length < trials.shortest() {
        return Ok(None);
    }
    trials.try_rate(rate, length, Purpose::Confirm, "what was found, for longer")
}
