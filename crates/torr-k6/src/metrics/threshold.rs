//! The grammar of thresholds: an aggregate, a comparison, a number.

use super::kind::MetricKind;
use super::sink::Sink;
use std::fmt::{self, Display, Formatter};
use std::time::Duration;

/// A figure that is made of a metric's samples.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Aggregate {
    /// The sum of a Counter.
    Count,
    /// The sum of a Counter per second, or the share of a Rate.
    Rate,
    /// The latest value of a Gauge.
    Value,
    /// The mean of a Trend.
    Avg,
    /// The smallest value of a Trend.
    Min,
    /// The median of a Trend.
    Med,
    /// The largest value of a Trend.
    Max,
    /// A percentile of a Trend, from 0 to 100.
    Percentile(f64),
}

/// The aggregates without a parameter, by name.
const NAMED: [(&str, Aggregate); 7] = [
    ("count", Aggregate::Count),
    ("rate", Aggregate::Rate),
    ("value", Aggregate::Value),
    ("avg", Aggregate::Avg),
    ("min", Aggregate::Min),
    ("med", Aggregate::Med),
    ("max", Aggregate::Max),
];

impl Aggregate {
    fn parse(text: &str) -> Option<Self> {
        if let Some((_, named)) = NAMED.iter().find(|(name, _)| *name == text) {
            return Some(*named);
        }
        let number = text.strip_prefix("p(")?.strip_suffix(')')?.trim();
        let percent = decimal(number)?;
        (0.0..=100.0).contains(&percent).then_some(Self::Percentile(percent))
    }

    /// Returns whether metrics of a kind have the figure.
    #[must_use]
    pub fn fits(self, kind: MetricKind) -> bool {
        match kind {
            MetricKind::Counter => matches!(self, Self::Count | Self::Rate),
            MetricKind::Gauge => self == Self::Value,
            MetricKind::Rate => self == Self::Rate,
            MetricKind::Trend => !matches!(self, Self::Count | Self::Rate | Self::Value),
        }
    }

    /// Returns the figure of a metric's samples, after the run has gone on for a time.
    pub fn of(self, sink: &mut Sink, elapsed: Duration) -> f64 {
        match (sink, self) {
            (Sink::Counter { sum, .. }, Self::Rate) => {
                if elapsed.is_zero() {
                    0.0
                } else {
                    *sum / elapsed.as_secs_f64()
                }
            }
            (Sink::Counter { sum, .. }, _) => *sum,
            (Sink::Gauge(gauge), _) => gauge.value,
            (Sink::Rate(rate), _) => rate.share(),
            (Sink::Trend(trend), Self::Min) => trend.min(),
            (Sink::Trend(trend), Self::Max) => trend.max(),
            (Sink::Trend(trend), Self::Med) => trend.percentile(50.0),
            (Sink::Trend(trend), Self::Percentile(percent)) => trend.percentile(percent),
            (Sink::Trend(trend), _) => trend.mean(),
        }
    }
}

impl Display for Aggregate {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Percentile(percent) => write!(out, "p({percent})"),
            _ => out.write_str(NAMED.iter().find(|(_, named)| named == self).map_or("", |(name, _)| name)),
        }
    }
}

/// A comparison of two numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
    /// `==` or `===`
    Equal,
    /// `!=`
    NotEqual,
}

/// The comparisons by their signs; a longer sign stands before a shorter one that it begins with.
const SIGNS: [(&str, Comparison); 7] = [
    ("===", Comparison::Equal),
    ("==", Comparison::Equal),
    ("!=", Comparison::NotEqual),
    ("<=", Comparison::LessOrEqual),
    (">=", Comparison::GreaterOrEqual),
    ("<", Comparison::Less),
    (">", Comparison::Greater),
];

impl Comparison {
    /// Returns whether the comparison holds.
    #[must_use]
    pub fn holds(self, left: f64, right: f64) -> bool {
        match self {
            Self::Less => left < right,
            Self::LessOrEqual => left <= right,
            Self::Greater => left > right,
            Self::GreaterOrEqual => left >= right,
            Self::Equal => left == right,
            Self::NotEqual => left != right,
        }
    }
}

/// The expression of a threshold.
#[derive(Debug, Clone, PartialEq)]
pub struct ThresholdExpression {
    /// The expression as it was written.
    pub source: String,
    /// The figure.
    pub aggregate: Aggregate,
    /// The comparison.
    pub comparison: Comparison,
    /// The number that the figure is compared with.
    pub bound: f64,
}

impl ThresholdExpression {
    /// Reads an expression such as `p(95) < 500`.
    ///
    /// # Errors
    /// If the text is no such expression.
    pub fn parse(source: &str) -> Result<Self, String> {
        let example = "write thresholds as 'p(95)<500' or 'rate>0.9'";
        let at = source
            .find(['<', '>', '=', '!'])
            .ok_or_else(|| format!("expected a comparison in '{source}': {example}"))?;
        let (left, rest) = (source[..at].trim(), &source[at..]);
        let (sign, comparison) = SIGNS
            .iter()
            .find(|(sign, _)| rest.starts_with(sign))
            .ok_or_else(|| format!("unknown comparison in '{source}': use <, <=, >, >=, == or !="))?;
        let aggregate = Aggregate::parse(left).ok_or_else(|| {
            format!("unknown aggregate '{left}' in '{source}': use count, rate, value, avg, min, med, max or p(N)")
        })?;
        let right = rest[sign.len()..].trim();
        let bound =
            decimal(right).ok_or_else(|| format!("expected a number, found '{right}' in '{source}': {example}"))?;
        Ok(Self { source: source.to_owned(), aggregate, comparison: *comparison, bound })
    }
}

/// Reads a decimal number: no words such as `inf`, no units.
fn decimal(text: &str) -> Option<f64> {
    let is_part = |c: char| c.is_ascii_digit() || matches!(c, '.' | '-' | '+' | 'e' | 'E');
    if text.chars().all(is_part) { text.parse().ok().filter(|number: &f64| number.is_finite()) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_expressions() {
        for (source, aggregate, comparison, bound) in [
            ("rate<0.01", Aggregate::Rate, Comparison::Less, 0.01),
            ("p(95)<500", Aggregate::Percentile(95.0), Comparison::Less, 500.0),
            ("p(99.9) <= 1500", Aggregate::Percentile(99.9), Comparison::LessOrEqual, 1_500.0),
            ("p( 90 )<1", Aggregate::Percentile(90.0), Comparison::Less, 1.0),
            ("count>100", Aggregate::Count, Comparison::Greater, 100.0),
            (" avg >= 1.5 ", Aggregate::Avg, Comparison::GreaterOrEqual, 1.5),
            ("rate===1", Aggregate::Rate, Comparison::Equal, 1.0),
            ("count==0", Aggregate::Count, Comparison::Equal, 0.0),
            ("value!=-2", Aggregate::Value, Comparison::NotEqual, -2.0),
            ("med<1", Aggregate::Med, Comparison::Less, 1.0),
            ("min>0", Aggregate::Min, Comparison::Greater, 0.0),
            ("max<2e3", Aggregate::Max, Comparison::Less, 2_000.0),
            ("p(100)<1", Aggregate::Percentile(100.0), Comparison::Less, 1.0),
        ] {
            let parsed = ThresholdExpression::parse(source).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!((parsed.aggregate, parsed.comparison, parsed.bound), (aggregate, comparison, bound), "{source}");
        }
        for source in [
            "",
            "rate",
            "<1",
            "rate<",
            "rate<1ms",
            "p(101)<1",
            "p()<1",
            "p95<1",
            "rate=1",
            "rate<1 && rate>0",
            "foo<1",
            "rate<inf",
            "rate!1",
            "count<1,000",
        ] {
            let error = ThresholdExpression::parse(source).expect_err(source);
            assert!(!error.contains('\n'), "{error}");
        }
    }

    #[test]
    fn names_are_those_of_the_expression() {
        for text in ["count", "rate", "value", "avg", "min", "med", "max", "p(95)", "p(99.9)"] {
            assert_eq!(Aggregate::parse(text).expect("the aggregate is known").to_string(), text);
        }
    }
}
