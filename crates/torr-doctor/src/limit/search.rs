//! The search itself: two rates with the limit between them, then nearer and nearer, then the lower one for longer.

use super::ask::{Ask, Bench, Purpose};
use super::trials::{self, Trials, Tried};
use std::time::Duration;
use torr_press::RunError;

/// How near the two rates are to come: the higher by the lower.
const NEAR: f64 = 1.05;
/// The part of the closed loop's throughput to begin with.
const GENTLE: f64 = 1.0 / 8.0;
/// The lowest rates: of these the first that is kept to is the ground to stand on.
const LOWEST: [(f64, Duration); 2] = [(10.0, Duration::from_secs(1)), (1.0, Duration::from_secs(3))];

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

/// Presses as little as makes sense, which tells the response times of a service that has nothing else to do.
pub(super) fn base<B: Bench>(trials: &mut Trials<'_, B>) -> Result<Found, RunError> {
    let mut found = Found::default();
    let most = trials.settings.max_rate.unwrap_or(f64::INFINITY);
    for (rate, length) in LOWEST {
        let rate = rate.min(most);
        let why = format!("{rate} requests/s: how fast is it with nothing else to do?");
        let ask = Ask { why, may_end_early: false, ..trials::ask(rate, length, Purpose::Base) };
        let Some(reading) = trials.recorded(&ask)? else { break };
        let kept = reading.kept;
        if kept {
            trials.base = reading.latency_us;
        }
        found.take(Tried { reading, kept });
        if kept {
            // What failed above was the beginning, or too much already: the search will tell.
            found.failed = None;
            break;
        }
    }
    Ok(found)
}

/// From the lowest rate on; `ceiling` is what a closed loop came to.
pub(super) fn search<B: Bench>(
    trials: &mut Trials<'_, B>,
    mut found: Found,
    ceiling: Option<f64>,
) -> Result<Found, RunError> {
    bracket(trials, &mut found, ceiling)?;
    while bisect(trials, &mut found)? {
        match confirm(trials, &found)? {
            Some(tried) if tried.kept => {
                found.kept.pop();
                found.take(tried);
                found.confirmed = true;
                break;
            }
            Some(tried) => {
                // It had been kept to by chance: the limit is lower.
                found.kept.pop();
                found.is_most = false;
                found.take(tried);
            }
            None => break,
        }
    }
    Ok(found)
}

/// Doubles from a gentle beginning until a rate fails.
fn bracket<B: Bench>(trials: &mut Trials<'_, B>, found: &mut Found, ceiling: Option<f64>) -> Result<(), RunError> {
    let Some(ground) = found.kept.last().and_then(|tried| tried.reading.rate()) else { return Ok(()) };
    let most = trials.settings.max_rate.unwrap_or(f64::INFINITY);
    let start = ceiling.map_or(2.0 * ground, |ceiling| ceiling * GENTLE);
    let mut rate = start.max(2.0 * ground).min(most);
    if ground >= most {
        found.is_most = true;
        return Ok(());
    }
    while found.failed.is_none() && trials.has_time(rate) {
        let why = match ceiling {
            Some(ceiling) => format!("{:.0}% of what a closed loop came to", 100.0 * rate / ceiling),
            None => "twice as much as before".to_owned(),
        };
        let Some(tried) = trials.try_rate(rate, Purpose::Bracket, &why)? else { break };
        found.is_most = tried.kept && rate >= most;
        found.take(tried);
        if found.is_most {
            break;
        }
        rate = (rate * 2.0).min(most);
    }
    Ok(())
}

/// Halves the distance, as a ratio, until the two are near. Says whether there is something to confirm.
fn bisect<B: Bench>(trials: &mut Trials<'_, B>, found: &mut Found) -> Result<bool, RunError> {
    while let Some((kept, failed)) = found.bounds().filter(|(kept, failed)| failed / kept > NEAR) {
        let rate = (kept * failed).sqrt();
        if !trials.has_time(rate) {
            break;
        }
        let why = format!("between {kept:.0} (kept) and {failed:.0} (failed)");
        let Some(tried) = trials.try_rate(rate, Purpose::Bisect, &why)? else { return Ok(false) };
        found.take(tried);
    }
    Ok(!found.kept.is_empty() && !trials.bench.stopped())
}

/// Presses the highest rate that was kept to once more, for longer. `None` if there is no time.
fn confirm<B: Bench>(trials: &mut Trials<'_, B>, found: &Found) -> Result<Option<Tried>, RunError> {
    let Some(rate) = found.kept.last().and_then(|tried| tried.reading.rate()) else { return Ok(None) };
    let usual = trials.length(rate);
    let length = (usual * 2).min(trials.left().saturating_sub(trials.settings.after()).div_f64(1.2));
    if length < usual {
        return Ok(None);
    }
    let ask = Ask { why: "what was found, for longer".into(), ..trials::ask(rate, length, Purpose::Confirm) };
    let Some(reading) = trials.recorded(&ask)? else { return Ok(None) };
    if !reading.kept {
        trials.settle()?;
    }
    Ok(Some(Tried { kept: reading.kept, reading }))
}
