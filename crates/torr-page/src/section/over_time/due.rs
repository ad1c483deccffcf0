//! What was due over time, in an open loop.

use crate::fields::{field, has_streams, list, number};
use crate::plot::scale::Scale;
use serde_json::Value;

/// Returns the rate that was due, as points (seconds, requests per second); none where the series counts something else than requests.
pub fn due(value: &Value, x: Scale) -> Vec<(f64, f64)> {
    let Scale::Linear(_, end) = x else { return Vec::new() };
    if has_streams(value) || field(value, "sessions").is_some() {
        return Vec::new();
    }
    if let Some(rate) = number(value, "plan.rate") {
        return vec![(0.0, rate), (end, rate)];
    }
    let mut at = 0.0;
    let mut points = Vec::new();
    for stage in list(value, "plan.stages") {
        let of = |name| number(stage, name);
        let (Some(length), Some(from), Some(to)) = (of("length_s"), of("from"), of("to")) else { return Vec::new() };
        if at >= end {
            break;
        }
        // A run that ended early has no further stages.
        let share = ((end - at) / length).min(1.0);
        points.extend([(at, from), (at + length * share, from + (to - from) * share)]);
        at += length;
    }
    points
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn stages_end_with_the_run() {
        let stages = json!({"plan": {"stages": [
            {"length_s": 4.0, "from": 0.0, "to": 100.0}, {"length_s": 10.0, "from": 100.0, "to": 200.0},
            {"length_s": 1.0, "from": 200.0, "to": 0.0},
        ]}});
        let found = due(&stages, Scale::Linear(0.0, 9.0));
        assert_eq!(found, [(0.0, 0.0), (4.0, 100.0), (4.0, 100.0), (9.0, 150.0)]);
        assert_eq!(due(&json!({"plan": {"rate": 5.0}}), Scale::Linear(0.0, 9.0)), [(0.0, 5.0), (9.0, 5.0)]);
        assert!(due(&json!({"plan": {"rate": 5.0}, "sessions": {}}), Scale::Linear(0.0, 9.0)).is_empty());
    }
}
