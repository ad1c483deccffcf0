//! Rules that make a run a failure, such as `p99>50ms`: read from text, and judged by what was measured.

mod abort;
mod error;
mod figure;
mod list;
mod metric;
mod objective;
mod scope;

pub use abort::{AbortRule, AbortWatch};
pub use error::{MisplacedRuleError, ThresholdRuleError};
pub use list::split;
pub use objective::{Objective, ObjectiveError, ObjectiveResult};

use crate::Latency;
use crate::collector::Measurement;
use crate::number::number;
use crate::result::Threshold;
use crate::sessions::EntryName;
use figure::{Figure, figure, time, with_cut_off};
use metric::{Metric, Unit};
use scope::{PREFIXES, Scope};
use std::fmt;
use std::str::FromStr;

/// A metric, a comparison and a limit. A run for which it holds has failed.
#[derive(Debug, Clone, PartialEq)]
pub struct ThresholdRule {
    text: String,
    metric: Metric,
    scope: Scope,
    comparison: Comparison,
    /// The offset of the comparison in the text.
    comparison_at: usize,
    limit: f64,
    unit: Unit,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Comparison {
    Above,
    AtLeast,
    Below,
    AtMost,
}

impl ThresholdRule {
    /// Reads a rule such as `p99>50ms`, `errors>=0.1%` or `rps<20k`; of an entry, `p99{login}>200ms`.
    ///
    /// # Errors
    /// [`ThresholdRuleError`], which says what is wrong.
    pub fn parse(text: &str) -> Result<Self, ThresholdRuleError> {
        let text = text.trim();
        let at = comparison_at(text)?;
        let (front, rest) = text.split_at(at);
        let (comparison, limit) = Comparison::split(rest);
        let (name, metric, scope) = subject(front.trim())?;
        let digits = limit.find(|c: char| !c.is_ascii_digit() && c != '.' && c != '_').unwrap_or(limit.len());
        let (digits, unit) = (&limit[..digits], limit[digits..].trim());
        let plain = number(&format!("{digits}{unit}")).filter(|_| !metric.is_time());
        let (limit, unit) = match plain {
            Some(limit) => (limit, Unit::Number),
            None => (
                number(digits).ok_or_else(|| ThresholdRuleError::NoNumber(limit.to_owned()))?,
                metric.unit(unit).ok_or_else(|| misfit(metric, name, limit))?,
            ),
        };
        Ok(Self { text: text.to_owned(), metric, scope, comparison, comparison_at: at, limit, unit })
    }

    /// Checks that the rule fits a run with these entries, none for a run without sessions: before anything is sent. `has_streams` tells
    /// that its responses are streams of events.
    ///
    /// # Errors
    /// If no entry has the name in the rule, or the rule is about sessions or streams and the run has none.
    pub fn check(&self, entries: &[EntryName], has_streams: bool) -> Result<(), MisplacedRuleError> {
        if self.metric.is_of_sessions() && entries.is_empty() {
            return Err(MisplacedRuleError::NoSessions(self.text.clone()));
        }
        self.scope.check(&self.text, entries, has_streams)
    }

    /// Judges a run. A figure that is unknown, such as a percentile of too few samples, counts as failed.
    pub fn judge(&self, run: &Measurement) -> Threshold {
        let measured = self.measure(run);
        Threshold {
            rule: self.text.clone(),
            measured: measured.map(|value| self.show(value)),
            failed: measured.is_none_or(|value| self.comparison.holds(value, self.limit)),
        }
    }

    /// Returns whether the rule holds, `None` if the figure is unknown.
    fn holds(&self, run: &Measurement) -> Option<bool> {
        Some(self.comparison.holds(self.measure(run)?, self.limit))
    }

    /// In the unit of the limit. Measured figures are divided rather than limits multiplied: a quotient of whole
    /// numbers is the very number that its decimal notation is read as.
    fn measure(&self, run: &Measurement) -> Option<f64> {
        self.in_unit(match self.stalled(run) {
            Some(gaps) => Figure { value: time(self.metric, &gaps)?, of: 0 },
            None => figure(self.metric, &self.scope, run)?,
        })
    }

    /// Returns a figure in the unit of the limit.
    fn in_unit(&self, Figure { value, of }: Figure) -> Option<f64> {
        match self.unit {
            Unit::Time { us, .. } => Some(value / us),
            Unit::Share => (of > 0).then(|| value * 100.0 / of as f64),
            Unit::Number => Some(value),
        }
    }

    /// Returns the gaps between events with those that the end of the run cut off beyond the limit, of a rule that is broken by long gaps:
    /// the gaps of a stream that stalls are not among the others. `None` if there are none.
    fn stalled(&self, run: &Measurement) -> Option<Latency> {
        let is_broken_by_long = matches!(self.comparison, Comparison::Above | Comparison::AtLeast)
            && matches!(self.metric, Metric::Percentile(_) | Metric::Max);
        match self.unit {
            Unit::Time { us, .. } if is_broken_by_long => with_cut_off((self.limit * us) as u64, &self.scope, run),
            _ => None,
        }
    }

    /// Formats a figure with three digits, as reports do, a number from 100 on as a whole one; in full where it would seem to be on the
    /// other side of the limit.
    fn show(&self, value: f64) -> String {
        let short = match self.unit {
            Unit::Number if value >= 100.0 => value.round(),
            // A float is written with the fewest digits that tell it from all others.
            _ => format!("{value:.2e}").parse().unwrap_or(value),
        };
        let is_same = self.comparison.holds(short, self.limit) == self.comparison.holds(value, self.limit);
        let value = if is_same { short } else { (value * 1e6).round() / 1e6 };
        match self.unit {
            Unit::Time { name, .. } => format!("{value}{name}"),
            Unit::Share => format!("{value}%"),
            Unit::Number => value.to_string(),
        }
    }
}

/// Returns the microseconds of a measured figure with its unit, as [`Threshold::measured`] has it; `None` if it is no time.
pub fn measured_us(measured: &str) -> Option<f64> {
    let (digits, unit) = measured.split_at(measured.find(|c: char| c.is_ascii_alphabetic())?);
    match Metric::Mean.unit(unit)? {
        Unit::Time { us, .. } => Some(digits.parse::<f64>().ok()? * us),
        Unit::Share | Unit::Number => None,
    }
}

/// Returns where the comparison of a rule begins: behind the name of an entry, which may have any character.
fn comparison_at(text: &str) -> Result<usize, ThresholdRuleError> {
    let mut depth = 0_usize;
    for (at, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            '<' | '>' if depth == 0 => return Ok(at),
            _ => {}
        }
    }
    match depth {
        0 => Err(ThresholdRuleError::NoComparison),
        _ => Err(ThresholdRuleError::NoEnd(text.to_owned())),
    }
}

/// Returns the metric of a rule with its name, and the part of the run that it is about.
fn subject(front: &str) -> Result<(&str, Metric, Scope), ThresholdRuleError> {
    let unknown = |name: &str| ThresholdRuleError::UnknownMetric(name.to_owned());
    let Some((name, entry)) = front.strip_suffix('}').and_then(|front| front.split_once('{')) else {
        let of_part = PREFIXES.into_iter().find_map(|(prefix, scope)| Some((front.strip_prefix(prefix)?, scope)));
        let (metric, scope) = match of_part {
            Some((time, scope)) => (Metric::time(time), scope),
            None => (Metric::parse(front), Scope::Run),
        };
        return Ok((front, metric.ok_or_else(|| unknown(front))?, scope));
    };
    let (name, entry) = (name.trim(), entry.trim());
    match Metric::parse(name) {
        Some(Metric::Kind(_) | Metric::Grpc(_)) => Err(ThresholdRuleError::NotOfEntries(name.to_owned())),
        Some(_) if entry.is_empty() => Err(ThresholdRuleError::NoEntry(front.to_owned())),
        Some(metric) => Ok((name, metric, Scope::Entry(entry.to_owned()))),
        None if PREFIXES.iter().any(|(prefix, _)| name.strip_prefix(prefix).and_then(Metric::time).is_some()) => {
            Err(ThresholdRuleError::NotOfEntries(name.to_owned()))
        }
        None => Err(unknown(name)),
    }
}

/// Returns why a limit does not fit a metric.
fn misfit(metric: Metric, name: &str, limit: &str) -> ThresholdRuleError {
    let (name, limit) = (name.to_owned(), limit.to_owned());
    match metric {
        Metric::Rps => ThresholdRuleError::NoRate(limit),
        metric if metric.is_time() => ThresholdRuleError::NoTime { metric: name, limit },
        _ => ThresholdRuleError::NoCount { metric: name, limit },
    }
}

impl fmt::Display for ThresholdRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl FromStr for ThresholdRule {
    type Err = ThresholdRuleError;

    fn from_str(text: &str) -> Result<Self, ThresholdRuleError> {
        Self::parse(text)
    }
}

impl Comparison {
    /// The comparison that a text begins with, which does begin with one, and what follows.
    fn split(text: &str) -> (Self, &str) {
        let kinds = [(">=", Self::AtLeast), ("<=", Self::AtMost), (">", Self::Above), ("<", Self::Below)];
        let found = kinds.into_iter().find_map(|(sign, kind)| Some((kind, text.strip_prefix(sign)?.trim())));
        found.expect("the text was cut where a sign begins")
    }

    fn holds(self, value: f64, limit: f64) -> bool {
        match self {
            Self::Above => value > limit,
            Self::AtLeast => value >= limit,
            Self::Below => value < limit,
            Self::AtMost => value <= limit,
        }
    }
}

#[cfg(test)]
mod tests;
