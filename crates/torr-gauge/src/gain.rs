//! The gain of throughput that the advice of a verdict promises.

use serde::{Deserialize, Serialize};
use std::fmt;

/// A factor of throughput below which a change brings nothing worth its effort.
const NOTHING: f64 = 1.05;

/// The throughput after the advice was followed, as an interval of factors of the throughput that was measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Gain {
    /// The lower end. `None` where it cannot be known.
    pub low: Option<f64>,
    /// The upper end. `None` where it cannot be known.
    pub high: Option<f64>,
    /// Why an end is unknown. `None` if both are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The gain in words, with the change that it is promised for.
    pub summary: String,
}

impl Gain {
    /// Returns a gain between two factors. `change` follows their words: "with 8 connections".
    pub fn between(low: f64, high: f64, change: impl fmt::Display) -> Self {
        let times = match (factor(low), factor(high)) {
            _ if high < NOTHING => "no more throughput".to_owned(),
            (low, high) if low == high => format!("{high} times the throughput"),
            (low, high) => format!("{low} to {high} times the throughput"),
        };
        Self { low: Some(low), high: Some(high), reason: None, summary: format!("{times} {change}") }
    }

    /// Returns a gain whose upper end is unknown for a reason.
    pub fn at_least(low: f64, change: impl fmt::Display, reason: impl Into<String>) -> Self {
        let summary = format!("at least {} times the throughput {change}", factor(low));
        Self { low: Some(low), high: None, reason: Some(reason.into()), summary }
    }

    /// Returns a gain that cannot be known for a reason. `summary` tells what it depends on.
    pub fn unknown(summary: impl Into<String>, reason: impl Into<String>) -> Self {
        Self { low: None, high: None, reason: Some(reason.into()), summary: summary.into() }
    }
}

impl fmt::Display for Gain {
    /// Writes the gain as reports show it, in one line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.reason, self.low) {
            (None, _) => f.write_str(&self.summary),
            (Some(reason), Some(_)) => write!(f, "{}: {reason}", self.summary),
            (Some(reason), None) => write!(f, "{}; how much is unknown: {reason}", self.summary),
        }
    }
}

/// Returns a factor with the digits that mean something.
fn factor(factor: f64) -> String {
    if factor < 10.0 { format!("{factor:.1}") } else { format!("{factor:.0}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn words_and_numbers_agree() {
        for (gain, words) in [
            (Gain::between(1.82, 2.21, "with 8 connections"), "1.8 to 2.2 times the throughput with 8 connections"),
            (Gain::between(3.96, 4.04, "without the delay"), "4.0 times the throughput without the delay"),
            (Gain::between(8.51, 53.7, "without the way"), "8.5 to 54 times the throughput without the way"),
            (Gain::between(1.0, 1.04, "here"), "no more throughput here"),
            (
                Gain::at_least(1.3, "with another thread", "the service was not at its limit"),
                "at least 1.3 times the throughput with another thread: the service was not at its limit",
            ),
            (
                Gain::unknown("in proportion to the ports", "none was added"),
                "in proportion to the ports; how much is unknown: none was added",
            ),
        ] {
            assert_eq!(gain.to_string(), words);
        }
    }

    #[test]
    fn an_end_that_is_unknown_is_null_beside_its_reason() {
        let json = |gain: Gain| serde_json::to_value(gain).expect("it has no other keys than text");
        let known = json(Gain::between(1.5, 2.0, "here"));
        assert_eq!(known, json!({"low": 1.5, "high": 2.0, "summary": "1.5 to 2.0 times the throughput here"}));
        let unknown = json(Gain::unknown("more", "nothing was varied"));
        assert_eq!(unknown, json!({"low": null, "high": null, "reason": "nothing was varied", "summary": "more"}));
        let half = Gain::at_least(2.0, "here", "no more was tried");
        assert_eq!(serde_json::from_value::<Gain>(json(half.clone())).expect("it was written so"), half);
    }
}
