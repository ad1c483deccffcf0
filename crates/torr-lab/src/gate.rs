//! Thresholds of a comparison, such as `cpu>+2%,p99>+5%`.

use crate::judgement::{Finding, Outcome};
use crate::metric::Metric;
use serde::Serialize;
use std::fmt;

/// A difference that fails a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Rule {
    /// The metric.
    pub metric: Metric,
    /// The relative difference of B, 0.02 for 2%. Beyond it, in its direction, the comparison has failed.
    pub beyond: f64,
    /// Whether a rise fails; otherwise a fall.
    pub rise: bool,
}

/// What became of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kept {
    /// The difference is not that large, beyond doubt.
    Passed,
    /// The difference is larger, beyond doubt.
    Failed,
    /// It could be either.
    CannotTell,
}

impl Rule {
    /// Parses rules that are separated by commas.
    ///
    /// # Errors
    /// With what is wrong and what a rule looks like.
    pub fn parse_all(text: &str) -> Result<Vec<Self>, String> {
        text.split(',').map(str::trim).map(Self::parse).collect()
    }

    fn parse(text: &str) -> Result<Self, String> {
        let wrong = || {
            let names = Metric::ALL.map(Metric::name).join(", ");
            format!("invalid rule '{text}': expected one such as 'cpu>+2%' or 'throughput<-3%', of {names}")
        };
        let at = text.find(['<', '>']).ok_or_else(wrong)?;
        let metric = Metric::ALL.into_iter().find(|metric| metric.name() == text[..at].trim()).ok_or_else(wrong)?;
        let rise = text[at..].starts_with('>');
        let size = text[at + 1..].trim().strip_suffix('%').and_then(|size| match rise {
            true => size.strip_prefix('+'),
            false => size.strip_prefix('-'),
        });
        let percent = size.and_then(|size| size.parse::<f64>().ok()).ok_or_else(wrong)?;
        let fits = percent > 0.0 && percent < if rise { 10_000.0 } else { 100.0 };
        if !fits {
            return Err(format!("invalid rule '{text}': the difference must be above 0%, and a decrease below 100%"));
        }
        Ok(Self { metric, beyond: percent / 100.0, rise })
    }

    /// Returns the difference of B beyond which the rule fails.
    fn limit(&self) -> f64 {
        if self.rise { self.beyond } else { -self.beyond }
    }

    /// Returns what a finding says about the rule.
    pub fn judge(&self, finding: Option<&Finding>) -> Kept {
        let Some((interval, finding)) = finding.and_then(|finding| Some((finding.interval?, finding))) else {
            return Kept::CannotTell;
        };
        let [low, high] = interval.map(|ratio| finding.change(ratio));
        let is_beyond = if self.rise { low > self.limit() } else { high < self.limit() };
        let is_within = if self.rise { high < self.limit() } else { low > self.limit() };
        match () {
            () if is_beyond && finding.outcome == Outcome::Different => Kept::Failed,
            () if is_within => Kept::Passed,
            () => Kept::CannotTell,
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (sign, direction) = if self.rise { ('>', '+') } else { ('<', '-') };
        write!(f, "{}{sign}{direction}{}%", self.metric.name(), (self.beyond * 1e6).round() / 1e4)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_read_and_written() {
        let rules = Rule::parse_all("cpu>+2%, p99.9>+12.5%,throughput<-3%").expect("they are rules");
        let texts: Vec<_> = rules.iter().map(Rule::to_string).collect();
        assert_eq!(texts, ["cpu>+2%", "p99.9>+12.5%", "throughput<-3%"]);
        for wrong in
            ["", "cpu", "cpu>2%", "cpu>+2", "cpu<+2%", "latency>+2%", "cpu>+0%", "cpu>+x%", "cpu<-100%", "cpu>+2%,"]
        {
            assert!(Rule::parse_all(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_rule_is_kept_or_failed_beyond_doubt_or_nothing_is_shown() {
        let rule = Rule::parse_all("cpu>+2%").expect("it is a rule")[0];
        let finding = |outcome, interval| Finding { outcome, interval, ..Finding::nothing(Metric::Cpu) };
        for (interval, outcome, kept) in [
            (Some([1.025, 1.04]), Outcome::Different, Kept::Failed),
            (Some([1.01, 1.04]), Outcome::Different, Kept::CannotTell),
            (Some([1.001, 1.015]), Outcome::Different, Kept::Passed),
            (Some([0.99, 1.01]), Outcome::Same, Kept::Passed),
            (Some([0.95, 1.05]), Outcome::CannotTell, Kept::CannotTell),
            (Some([1.03, 1.05]), Outcome::CannotTell, Kept::CannotTell),
            (None, Outcome::CannotTell, Kept::CannotTell),
        ] {
            assert_eq!(rule.judge(Some(&finding(outcome, interval))), kept, "{interval:?}");
        }
        assert_eq!(rule.judge(None), Kept::CannotTell);
    }
}
