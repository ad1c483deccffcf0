//! A summary as JSON: the argument of `handleSummary`, and the file of `--summary-export`.

use super::data::{Check, Group, Metric, Summary};
use md5::{Digest, Md5};
use serde_json::{Map, Value, json};

/// Returns the argument of `handleSummary` as JSON text.
pub fn argument(summary: &Summary) -> String {
    let Summary { options, state, .. } = summary;
    let metrics: Map<_, _> = summary.metrics.iter().map(|(name, metric)| (name.clone(), of_metric(metric))).collect();
    let argument = json!({
        "root_group": of_group(&summary.root),
        "options": {
            "summaryTrendStats": options.trend_stats,
            "summaryTimeUnit": options.time_unit,
            "noColor": options.no_color,
        },
        "state": {
            "isStdOutTTY": state.stdout_is_terminal,
            "isStdErrTTY": state.stderr_is_terminal,
            "testRunDurationMs": number(state.duration_ms),
        },
        "metrics": metrics,
    });
    let mut text = argument.to_string();
    if let Some(setup) = &summary.setup_data {
        // The text is an object's, and so is not empty.
        text.truncate(text.len() - 1);
        text += &format!(",\"setup_data\":{setup}}}");
    }
    text
}

/// Returns the text of the file of `--summary-export`.
pub fn export(summary: &Summary) -> String {
    let metrics: Map<_, _> = summary
        .metrics
        .iter()
        .map(|(name, metric)| {
            let is_rate = metric.values.kind() == "rate";
            let named = metric.values.named().into_iter();
            // There the share of a rate is its value.
            let mut values: Map<_, _> = named
                .map(|(name, value)| (if is_rate && name == "rate" { "value" } else { name }.to_owned(), number(value)))
                .collect();
            if !metric.thresholds.is_empty() {
                // True for those that do not hold.
                let crossed = metric.thresholds.iter().map(|known| (known.source.clone(), Value::Bool(!known.ok)));
                values.insert("thresholds".to_owned(), Value::Object(crossed.collect()));
            }
            (name.clone(), Value::Object(values))
        })
        .collect();
    let export = json!({ "root_group": by_name(&summary.root), "metrics": metrics });
    let mut text = Vec::new();
    let formatter = serde_json::ser::PrettyFormatter::with_indent(b"    ");
    let mut serializer = serde_json::Serializer::with_formatter(&mut text, formatter);
    match serde::Serialize::serialize(&export, &mut serializer) {
        Ok(()) => String::from_utf8(text).unwrap_or_default(),
        Err(_) => export.to_string(),
    }
}

fn of_metric(metric: &Metric) -> Value {
    let values: Map<_, _> =
        metric.values.named().into_iter().map(|(name, value)| (name.to_owned(), number(value))).collect();
    let mut object = json!({ "type": metric.values.kind(), "contains": metric.contains.name(), "values": values });
    if !metric.thresholds.is_empty()
        && let Some(object) = object.as_object_mut()
    {
        let thresholds: Map<_, _> =
            metric.thresholds.iter().map(|known| (known.source.clone(), json!({ "ok": known.ok }))).collect();
        object.insert("thresholds".to_owned(), Value::Object(thresholds));
    }
    object
}

fn of_group(group: &Group) -> Value {
    json!({
        "name": group.name,
        "path": group.path,
        "id": id(&group.path),
        "groups": group.groups.iter().map(of_group).collect::<Vec<_>>(),
        "checks": group.checks.iter().map(of_check).collect::<Vec<_>>(),
    })
}

/// Returns a group in which others and checks stand by their names.
fn by_name(group: &Group) -> Value {
    let groups: Map<_, _> = group.groups.iter().map(|inner| (inner.name.clone(), by_name(inner))).collect();
    let checks: Map<_, _> = group.checks.iter().map(|check| (check.name.clone(), of_check(check))).collect();
    json!({ "name": group.name, "path": group.path, "id": id(&group.path), "groups": groups, "checks": checks })
}

fn of_check(check: &Check) -> Value {
    let Check { name, path, passes, fails } = check;
    json!({ "name": name, "path": path, "id": id(path), "passes": passes, "fails": fails })
}

/// Returns the id of a path.
fn id(path: &str) -> String {
    Md5::digest(path.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns a number as JSON, a whole one without decimals.
fn number(value: f64) -> Value {
    // Below 2^53 every whole number is exact.
    if value.fract() == 0.0 && value.abs() < 9_007_199_254_740_992.0 {
        Value::from(value as i64)
    } else {
        serde_json::Number::from_f64(value).map_or(Value::Null, Value::Number)
    }
}
