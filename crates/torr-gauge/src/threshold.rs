//! Rules that make a run a failure, such as `p99>50ms`: read from text, and judged by what was measured.

mod objective;

pub use objective::{Objective, ObjectiveError, ObjectiveResult};

use crate::FailureKind;
use crate::collector::Measurement;
use crate::number::number;
use crate::result::Threshold;
use std::fmt;
use std::str::FromStr;
use thiserror::Error;

/// A metric, a comparison and a limit. A run for which it holds has failed.
#[derive(Debug, Clone, PartialEq)]
pub struct ThresholdRule {
    text: String,
    metric: Metric,
    comparison: Comparison,
    limit: f64,
    unit: Unit,
}

/// Why a text is no rule.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ThresholdRuleError {
    /// There is no comparison in it.
    #[error("no comparison (>, >=, < or <=) as in 'p99>50ms'")]
    NoComparison,
    /// It is not known what to measure.
    #[error(
        "'{0}' is none of min, mean, stddev, max, p50 to p99.99, rps, errors, connect, tls, timeout, read, write, \
         protocol, status, ports, unfinished"
    )]
    UnknownMetric(String),
    /// The limit does not begin with a number.
    #[error("'{0}' is not a number with its unit")]
    NoNumber(String),
    /// A response time is compared with something else.
    #[error("'{limit}' is no time: '{metric}' needs us, ms, s or m, as in '{metric}>50ms'")]
    NoTime {
        /// What is to be measured.
        metric: String,
        /// What it is compared with.
        limit: String,
    },
    /// A count is compared with something else.
    #[error(
        "'{limit}' is no count (k, M and G multiply) and no share: '{metric}' needs one, as in \
         '{metric}>10' or '{metric}>0.1%'"
    )]
    NoCount {
        /// What is to be measured.
        metric: String,
        /// What it is compared with.
        limit: String,
    },
    /// A rate is compared with something else.
    #[error("'{0}' is no number of requests per second (k, M and G multiply), as in 'rps<1000'")]
    NoRate(String),
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Metric {
    Min,
    Mean,
    Stddev,
    Max,
    /// The share of samples below, 0 to 1.
    Percentile(f64),
    Rps,
    Errors,
    Kind(FailureKind),
    Unfinished,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Comparison {
    Above,
    AtLeast,
    Below,
    AtMost,
}

/// What the limit is given in, and so what is measured.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Unit {
    Time {
        name: &'static str,
        us: f64,
    },
    /// Of the requests that were begun, in percent.
    Share,
    Number,
}

impl ThresholdRule {
    /// Reads a rule such as `p99>50ms`, `errors>=0.1%` or `rps<20k`.
    ///
    /// # Errors
    /// [`ThresholdRuleError`], which says what is wrong.
    pub fn parse(text: &str) -> Result<Self, ThresholdRuleError> {
        let text = text.trim();
        let (metric, rest) = text.split_at(text.find(['<', '>']).ok_or(ThresholdRuleError::NoComparison)?);
        let (name, (comparison, limit)) = (metric.trim(), Comparison::split(rest));
        let metric = Metric::parse(name).ok_or_else(|| ThresholdRuleError::UnknownMetric(name.to_owned()))?;
        let digits = limit.find(|c: char| !c.is_ascii_digit() && c != '.' && c != '_').unwrap_or(limit.len());
        let (digits, unit) = (&limit[..digits], limit[digits..].trim());
        let plain = number(&format!("{digits}{unit}")).filter(|_| metric.is_counted());
        let (limit, unit) = match plain {
            Some(limit) => (limit, Unit::Number),
            None => (
                number(digits).ok_or_else(|| ThresholdRuleError::NoNumber(limit.to_owned()))?,
                metric.unit(unit).ok_or_else(|| metric.misfit(name, limit))?,
            ),
        };
        Ok(Self { text: text.to_owned(), metric, comparison, limit, unit })
    }

    /// Whether the run failed by it. What cannot be told, such as a percentile of too few samples, counts as failed.
    pub fn judge(&self, run: &Measurement) -> Threshold {
        let measured = self.measure(run);
        Threshold {
            rule: self.text.clone(),
            measured: measured.map(|value| self.show(value)),
            failed: measured.is_none_or(|value| self.comparison.holds(value, self.limit)),
        }
    }

    /// Whether it holds, as far as that can be told.
    fn holds(&self, run: &Measurement) -> Option<bool> {
        Some(self.comparison.holds(self.measure(run)?, self.limit))
    }

    /// In the unit of the limit. Measured figures are divided rather than limits multiplied: a quotient of whole
    /// numbers is the very number that its decimal notation is read as.
    fn measure(&self, run: &Measurement) -> Option<f64> {
        let result = &run.result;
        let latency = result.latency_us.as_ref();
        let figure = match self.metric {
            Metric::Min => latency?.min as f64,
            Metric::Mean => latency?.mean,
            Metric::Stddev => latency?.stddev,
            Metric::Max => latency?.max as f64,
            Metric::Percentile(share) => run.total.latency().quantile(share)? as f64,
            Metric::Rps => result.rps,
            Metric::Errors => result.errors.total() as f64,
            Metric::Kind(kind) => result.errors.of(kind) as f64,
            Metric::Unfinished => result.unfinished as f64,
        };
        match self.unit {
            Unit::Time { us, .. } => Some(figure / us),
            Unit::Share => (result.asked > 0).then(|| figure * 100.0 / result.asked as f64),
            Unit::Number => Some(figure),
        }
    }

    fn show(&self, value: f64) -> String {
        let value = (value * 1e6).round() / 1e6;
        match self.unit {
            Unit::Time { name, .. } => format!("{value}{name}"),
            Unit::Share => format!("{value}%"),
            Unit::Number => value.to_string(),
        }
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

impl Metric {
    fn parse(name: &str) -> Option<Self> {
        let kind = |name: &str| FailureKind::ALL.into_iter().find(|kind| kind.name() == name);
        Some(match name {
            "min" => Self::Min,
            "mean" => Self::Mean,
            "stddev" => Self::Stddev,
            "max" => Self::Max,
            "rps" => Self::Rps,
            "errors" => Self::Errors,
            "unfinished" => Self::Unfinished,
            _ => match kind(name).or_else(|| kind(name.strip_suffix('s')?)) {
                Some(kind) => Self::Kind(kind),
                None => Self::Percentile(percentile(name)?),
            },
        })
    }

    /// Whether its limit may be a plain number.
    fn is_counted(self) -> bool {
        matches!(self, Self::Rps | Self::Errors | Self::Kind(_) | Self::Unfinished)
    }

    /// What the limit is given in, where that is no plain number.
    fn unit(self, unit: &str) -> Option<Unit> {
        let time = |name, us| Some(Unit::Time { name, us });
        match self {
            Self::Min | Self::Mean | Self::Stddev | Self::Max | Self::Percentile(_) => match unit {
                "us" | "µs" => time("us", 1.0),
                "ms" => time("ms", 1e3),
                "s" => time("s", 1e6),
                "m" => time("m", 60e6),
                _ => None,
            },
            Self::Errors | Self::Kind(_) | Self::Unfinished => (unit == "%").then_some(Unit::Share),
            Self::Rps => None,
        }
    }

    /// Why a limit does not fit.
    fn misfit(self, name: &str, limit: &str) -> ThresholdRuleError {
        let (metric, limit) = (name.to_owned(), limit.to_owned());
        match self {
            Self::Rps => ThresholdRuleError::NoRate(limit),
            Self::Errors | Self::Kind(_) | Self::Unfinished => ThresholdRuleError::NoCount { metric, limit },
            _ => ThresholdRuleError::NoTime { metric, limit },
        }
    }
}

/// `p99.9` or `p99_9` as a share. Put together as text: a division by 100 may give the number next to the one meant.
fn percentile(name: &str) -> Option<f64> {
    let digits = name.strip_prefix('p')?.replace('_', ".");
    let (whole, fraction) = digits.split_once('.').unwrap_or((&digits, ""));
    let all_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    let fits = (1..=2).contains(&whole.len()) && all_digits(whole) && all_digits(fraction) && !digits.ends_with('.');
    format!("0.{whole:0>2}{fraction}").parse().ok().filter(|&share: &f64| fits && share > 0.0 && share < 1.0)
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
mod tests {
    use super::*;
    use crate::collector::RunFacts;
    use crate::{Collector, Failure, FailureSide, Sample};
    use std::time::Duration;

    /// 1,000 requests in 2 seconds: 990 answered after 1 to 990 ms, 7 of them with status 500; 7 timed out, 3 unfinished.
    fn run() -> Measurement {
        let mut sample = Sample::default();
        for ms in 1..=990 {
            sample.answered.record(ms * 1_000_000);
            sample.status.count(if ms <= 7 { 500 } else { 200 });
        }
        for _ in 0..7 {
            sample.failures.count(Failure::new(FailureKind::Timeout, FailureSide::Server, "no answer"));
            sample.unanswered.record(2_000_000_000);
        }
        sample.unfinished = 3;
        (0..3).for_each(|_| sample.unanswered.record(500_000_000));
        let mut collector = Collector::new(1, Duration::from_secs(1));
        collector.take(0, 0, &sample, true);
        collector.finish(facts(1000))
    }

    fn facts(asked: u64) -> RunFacts {
        RunFacts { duration: Duration::from_secs(2), asked, ..RunFacts::default() }
    }

    #[test]
    fn a_run_is_judged_in_the_unit_of_the_rule() {
        let run = run();
        // A percentile is told as the upper edge of its step in the histogram.
        let cases = [
            ("rps<495", Some("495"), false),
            ("rps<=495", Some("495"), true),
            ("rps < 0.5k", Some("495"), true),
            ("min>1ms", Some("1ms"), false),
            ("min>=1ms", Some("1ms"), true),
            ("min >= 1000 us", Some("1000us"), true),
            ("min<0.001s", Some("0.001s"), false),
            ("p50>501ms", Some("500.223ms"), false),
            ("p50>500ms", Some("500.223ms"), true),
            ("p99_2>1m", Some("0.016486m"), false),
            ("max>=2s", Some("2.000895s"), true),
            ("errors>14", Some("14"), false),
            ("errors>=14", Some("14"), true),
            ("errors>=1.4%", Some("1.4%"), true),
            ("errors>1.4%", Some("1.4%"), false),
            ("timeout>0.7%", Some("0.7%"), false),
            ("timeouts>0", Some("7"), true),
            ("status>0.5%", Some("0.7%"), true),
            ("ports>0", Some("0"), false),
            ("unfinished<3", Some("3"), false),
            ("unfinished<0.31%", Some("0.3%"), true),
            // 1,000 samples have one beyond the 99.9th percentile.
            ("p99.9<1m", None, true),
            ("p99.9>1m", None, true),
        ];
        for (text, measured, failed) in cases {
            let rule = ThresholdRule::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
            let told = rule.judge(&run);
            assert_eq!((told.rule.as_str(), told.measured.as_deref(), told.failed), (text, measured, failed), "{text}");
        }
        for (text, (low, high)) in [("mean>1s", (495.0, 520.0)), ("stddev>1s", (280.0, 330.0))] {
            let told = ThresholdRule::parse(&text.replace("1s", "1ms")).unwrap().judge(&run);
            let figure: f64 = told.measured.as_deref().and_then(|m| m.strip_suffix("ms")).unwrap().parse().unwrap();
            assert!(figure > low && figure < high && told.failed, "{told:?}");
        }
    }

    #[test]
    fn what_cannot_be_told_counts_as_failed() {
        let nothing = Collector::new(1, Duration::from_secs(1)).finish(facts(0));
        for (text, measured, failed) in [
            ("p50>1s", None, true),
            ("max>1s", None, true),
            ("errors>50%", None, true),
            ("errors>0", Some("0"), false),
            ("rps<1", Some("0"), true),
        ] {
            let told = ThresholdRule::parse(text).unwrap().judge(&nothing);
            assert_eq!((told.measured.as_deref(), told.failed), (measured, failed), "{text}");
        }
    }

    #[test]
    fn a_percentile_is_the_one_that_is_meant() {
        for (name, share) in [("p50", 0.5), ("p5", 0.05), ("p99.9", 0.999), ("p99_99", 0.9999), ("p99.999", 0.99999)] {
            assert_eq!(Metric::parse(name), Some(Metric::Percentile(share)), "{name}");
        }
    }

    #[test]
    fn what_is_no_rule_is_told_so() {
        for (text, why) in [
            ("", "no comparison"),
            ("p99", "no comparison"),
            ("p99=50ms", "no comparison"),
            (">50ms", "'' is none of"),
            ("p99=>50ms", "'p99=' is none of"),
            ("latency>5ms", "'latency' is none of"),
            ("p0>5ms", "'p0' is none of"),
            ("p100>5ms", "'p100' is none of"),
            ("p>5ms", "'p' is none of"),
            ("p99.>5ms", "'p99.' is none of"),
            ("p9x>5ms", "'p9x' is none of"),
            ("p+9>5ms", "'p+9' is none of"),
            ("p99>", "'' is not a number"),
            ("p99>fast", "'fast' is not a number"),
            ("p99>-5ms", "'-5ms' is not a number"),
            ("p99>>5ms", "'>5ms' is not a number"),
            ("p99>1.2.3ms", "'1.2.3ms' is not a number"),
            ("p99>50", "'p99' needs us, ms, s or m"),
            ("p99>5%", "'p99' needs us, ms, s or m"),
            ("errors>5ms", "'errors' needs one"),
            ("rps<5%", "requests per second"),
            ("rps<5 ms", "requests per second"),
        ] {
            let error = ThresholdRule::parse(text).expect_err(text).to_string();
            assert!(error.contains(why), "{text}: {error}");
        }
    }
}
