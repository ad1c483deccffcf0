//! The rates that were tried, their outcomes, and the highest rate that the service sustains.

use super::ask::Purpose;
use super::reading::Reading;
use super::trials::Tried;
use serde::Serialize;

/// The outcomes so far.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// The rates that were tried, ascending.
    rates: Vec<Rate>,
    /// The first step, if it failed.
    base_failed: Option<Reading>,
}

/// A rate and the outcomes of its steps. A failed step and its immediate repetition have one outcome.
#[derive(Debug)]
struct Rate {
    rate: f64,
    short: Counts,
    /// Outcomes of confirming steps, which are longer.
    long: Counts,
    /// The last step that was kept, a longer one if there is one.
    kept: Option<Reading>,
    /// The last step that failed.
    failed: Option<Reading>,
    /// Whether the rate was retried after a lower rate was confirmed.
    challenged: bool,
}

/// The numbers of steps in which a rate was kept and failed.
#[derive(Debug, Clone, Copy, Default)]
struct Counts {
    kept: usize,
    failed: usize,
}

impl Counts {
    fn add(&mut self, kept: bool) {
        *if kept { &mut self.kept } else { &mut self.failed } += 1;
    }
}

impl Rate {
    fn new(rate: f64) -> Self {
        Self { rate, short: Counts::default(), long: Counts::default(), kept: None, failed: None, challenged: false }
    }

    /// Whether the rate counts as kept. A long step outweighs all short ones. A rate that was kept as often as it failed counts
    /// as kept: what comes and goes on a machine makes steps fail that would be kept, and hardly the reverse.
    fn is_kept(&self) -> bool {
        match self.long {
            Counts { kept: 0, failed: 0 } => self.short.kept > 0,
            Counts { kept, failed } => kept > 0 && kept >= failed,
        }
    }

    fn is_confirmed(&self) -> bool {
        self.long.kept > 0 && self.is_kept()
    }
}

impl Found {
    /// Nothing but the first step of all, if that failed.
    pub(super) fn new(base_failed: Option<Reading>) -> Self {
        Self { base_failed, ..Self::default() }
    }

    /// Adds the outcome of a rate.
    pub(super) fn take(&mut self, tried: Tried) {
        let Some(rate) = tried.reading.offered() else { return };
        let at = self.rates.partition_point(|known| known.rate < rate);
        if self.rates.get(at).is_none_or(|known| known.rate > rate) {
            self.rates.insert(at, Rate::new(rate));
        }
        let known = &mut self.rates[at];
        let is_long = tried.reading.purpose == Purpose::Confirm;
        let counts = if is_long { &mut known.long } else { &mut known.short };
        counts.add(tried.kept);
        if !tried.kept {
            known.failed = Some(tried.reading);
        } else if is_long || known.long.kept == 0 {
            known.kept = Some(tried.reading);
        }
    }

    /// The highest rate that counts as kept.
    pub(super) fn kept(&self) -> Option<f64> {
        self.rates.iter().rev().find(|known| known.is_kept()).map(|known| known.rate)
    }

    /// The lowest rate above the highest kept one that counts as failed; without a kept one the lowest that failed.
    pub(super) fn failed(&self) -> Option<f64> {
        self.lowest_failed().map(|known| known.rate)
    }

    fn lowest_failed(&self) -> Option<&Rate> {
        let kept = self.kept().unwrap_or(0.0);
        self.rates.iter().find(|known| known.rate > kept && !known.is_kept())
    }

    /// Whether the highest kept rate was kept in a longer step too.
    pub(super) fn is_confirmed(&self) -> bool {
        self.rates.iter().rev().find(|known| known.is_kept()).is_some_and(Rate::is_confirmed)
    }

    /// The highest kept rate and the lowest failed rate above it.
    pub(super) fn bounds(&self) -> Option<(f64, f64)> {
        Some((self.kept()?, self.failed()?))
    }

    /// The lowest failed rate, if its failure is doubtful and has not been looked at again: other programs used the machine, or
    /// the rate is below `expected`.
    pub(super) fn doubtful(&mut self, expected: f64) -> Option<f64> {
        let rate = self.failed()?;
        let known = self.rates.iter_mut().find(|known| known.rate >= rate)?;
        let disturbed = known.failed.as_ref().is_some_and(Reading::is_disturbed);
        let is_doubtful = !known.challenged && (disturbed || rate < expected);
        known.challenged |= is_doubtful;
        is_doubtful.then_some(rate)
    }

    /// Returns the conclusion from all rates and steps.
    pub(super) fn conclude(self, steps: &[Reading]) -> Concluded {
        let sustained = self.sustained(steps);
        let above = sustained.map_or(0.0, |at| self.rates[at].rate);
        let spread = spread(steps, above);
        let mut rates = self.rates;
        let counts_as_failed = rates.iter().filter_map(|known| known.failed.as_ref());
        // One that failed, but was kept when it was tried again, is not sustained either.
        let failed_once = steps.iter().rev().filter(|step| looks_for_it(step) && !step.kept);
        let failed = counts_as_failed.chain(failed_once).filter(|step| step.offered().is_some_and(|rate| rate > above));
        let rate = |step: &Reading| step.offered().unwrap_or(f64::INFINITY);
        let failed = failed.min_by(|one, other| rate(one).total_cmp(&rate(other))).cloned().or(self.base_failed);
        let confirmed = sustained.is_some_and(|at| rates[at].is_confirmed());
        let kept = sustained.and_then(|at| rates[at].kept.take());
        Concluded { kept, failed, confirmed, spread }
    }

    /// The highest confirmed rate. Where the time ended before any was, the rate with which the fewest steps disagree: those
    /// below it that failed, and those above it that were kept; of equals the middle one.
    fn sustained(&self, steps: &[Reading]) -> Option<usize> {
        let confirmed = self.rates.iter().rposition(Rate::is_confirmed);
        confirmed.or_else(|| {
            let disagree =
                |rate: f64| counted(steps).filter(|(at, kept)| if *kept { *at > rate } else { *at <= rate }).count();
            let kept = self.rates.iter().enumerate().filter(|(_, known)| known.kept.is_some());
            let costs: Vec<_> = kept.map(|(at, known)| (at, disagree(known.rate))).collect();
            let least = costs.iter().map(|&(_, cost)| cost).min()?;
            let best: Vec<_> = costs.into_iter().filter(|&(_, cost)| cost == least).collect();
            best.get(best.len() / 2).map(|&(at, _)| at)
        })
    }
}

/// The conclusion of the search.
#[derive(Debug, Default)]
pub(super) struct Concluded {
    /// The step that shows the rate that is sustained.
    pub kept: Option<Reading>,
    /// The lowest rate above it that failed in any step; without a sustained rate the lowest that failed.
    pub failed: Option<Reading>,
    /// Whether the sustained rate was kept in a longer step too.
    pub confirmed: bool,
    /// The rates whose steps do not agree with the result.
    pub spread: Vec<Spread>,
}

/// A rate whose steps do not all agree with the result: it is higher but was kept, or is not higher but failed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Spread {
    /// Requests per second, or streams at a time.
    pub rate: f64,
    /// The number of steps that met the objectives.
    pub kept: usize,
    /// The number of failed steps.
    pub failed: usize,
}

/// The steps that say something of the service at a rate, and whether they were kept.
fn counted(steps: &[Reading]) -> impl Iterator<Item = (f64, bool)> {
    steps.iter().filter(|step| looks_for_it(step)).filter_map(|step| Some((step.offered()?, step.kept)))
}

fn looks_for_it(step: &Reading) -> bool {
    matches!(step.purpose, Purpose::Bracket | Purpose::Bisect | Purpose::Confirm)
        && (step.kept || step.generator.is_none())
}

/// Returns the rates that do not agree with the sustained one, ascending.
fn spread(steps: &[Reading], sustained: f64) -> Vec<Spread> {
    let mut rates: Vec<Spread> = Vec::new();
    for (rate, kept) in counted(steps) {
        let at = rates.partition_point(|known| known.rate < rate);
        if rates.get(at).is_none_or(|known| known.rate > rate) {
            rates.insert(at, Spread { rate, kept: 0, failed: 0 });
        }
        *if kept { &mut rates[at].kept } else { &mut rates[at].failed } += 1;
    }
    rates.retain(|known| if known.rate > sustained { known.kept > 0 } else { known.failed > 0 });
    rates
}
