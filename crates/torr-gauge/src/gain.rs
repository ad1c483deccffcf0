//! The gain of throughput that the advice of a verdict promises.

use serde::{Deserialize, Serialize};

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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_end_that_is_unknown_is_null_beside_its_reason() {
        let recorded = json!({"low": 1.5, "high": null, "reason": "no more was tried", "summary": "at least 1.50x"});
        let gain: Gain = serde_json::from_value(recorded.clone()).expect("it was written so");
        assert_eq!((gain.low, gain.high), (Some(1.5), None));
        assert_eq!(serde_json::to_value(gain).expect("it has no other keys than text"), recorded);
    }
}
