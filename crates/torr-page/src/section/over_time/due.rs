//! What was due over time, in an open loop.

use crate::fields::{field, has_streams, list, number, text};
use crate::plot::scale::Scale;
use serde_json::Value;

/// Returns the rate that was due, as points (seconds, requests per second); none where the series counts something else than requests.
pub fn due(value: &Value, x: Scale) -> Vec<(f64, f64)> {
    let Scale::Linear(begin, end) = x else { return Vec::new() };
    if has_streams(value) || field(value, "sessions").is_some() {
        return Vec::new();
    }
    match number(value, "plan.rate") {
        Some(rate) => from(begin, steered(value, rate, end)),
        // A share of stages is not drawn.
        None if list(value, "steering").iter().any(changes_load) => Vec::new(),
        None => from(begin, staged(value, end)),
    }
}

/// Whether an operator's event changed what was due.
fn changes_load(event: &Value) -> bool {
    text(event, "what").is_some_and(|what| ["pause", "resume", "rate"].contains(&what))
}

/// Returns a rate that an operator changed, and paused.
fn steered(value: &Value, planned: f64, end: f64) -> Vec<(f64, f64)> {
    let (mut rate, mut paused) = (planned, false);
    let mut points = vec![(0.0, planned)];
    for event in list(value, "steering").iter().filter(|event| changes_load(event)) {
        let Some(at) = number(event, "t").filter(|at| *at < end) else { continue };
        points.push((at, if paused { 0.0 } else { rate }));
        match text(event, "what") {
            Some("pause") => paused = true,
            Some("resume") => paused = false,
            _ => rate = planned * number(event, "value").unwrap_or(1.0),
        }
        points.push((at, if paused { 0.0 } else { rate }));
    }
    points.push((end, if paused { 0.0 } else { rate }));
    points
}

/// Returns the part of a line from a moment on.
fn from(begin: f64, points: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    let Some(first) = points.iter().rposition(|(at, _)| *at <= begin) else { return points };
    let mut part = points[first..].to_vec();
    if let [(from, low), (to, high), ..] = part[..]
        && to > from
    {
        part[0] = (begin, low + (high - low) * (begin - from) / (to - from));
    }
    part
}

/// Returns the rate of the stages.
fn staged(value: &Value, end: f64) -> Vec<(f64, f64)> {
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
        let late = due(&stages, Scale::Linear(2.0, 9.0));
        assert_eq!(late, [(2.0, 50.0), (4.0, 100.0), (4.0, 100.0), (9.0, 150.0)]);
    }

    #[test]
    fn what_an_operator_changed_is_what_was_due() {
        let run = json!({"plan": {"rate": 100.0}, "steering": [
            {"t": 2.0, "what": "rate", "value": 1.5}, {"t": 3.0, "what": "mark"}, {"t": 4.0, "what": "pause"},
        ]});
        let found = due(&run, Scale::Linear(0.0, 6.0));
        assert_eq!(found, [(0.0, 100.0), (2.0, 100.0), (2.0, 150.0), (4.0, 150.0), (4.0, 0.0), (6.0, 0.0)]);
    }
}
