//! Summaries that k6 1.8.1 printed, beside the data that it gave `handleSummary` in the same run.

use super::data::{Check, Contains, Group, Metric, Summary, SummaryOptions, Threshold, Values};
use super::json;
use super::text::{Mode, text};
use serde_json::Value;

fn summary(data: &Value) -> Summary {
    let metrics = data["metrics"].as_object().expect("metrics are an object");
    let metrics = metrics.iter().map(|(name, metric)| (name.clone(), of_metric(metric)));
    let mut root = Group::default();
    groups(&data["root_group"], &mut root);
    let stats = data["options"]["summaryTrendStats"].as_array().expect("stats are a list");
    let stats = stats.iter().filter_map(|stat| stat.as_str().map(str::to_owned));
    let mut summary = Summary { metrics: metrics.collect(), root, ..Summary::default() };
    checks(&data["root_group"], &mut summary.checks);
    summary.options = SummaryOptions { trend_stats: stats.collect(), ..SummaryOptions::default() };
    summary.state.duration_ms = data["state"]["testRunDurationMs"].as_f64().expect("it is a number");
    summary
}

fn of_metric(metric: &Value) -> Metric {
    let values = metric["values"].as_object().expect("values are an object");
    let number = |name: &str| values[name].as_f64().expect("a value is a number");
    let count = |name: &str| values[name].as_u64().expect("a value is a count");
    let contains = match metric["contains"].as_str() {
        Some("time") => Contains::Time,
        Some("data") => Contains::Data,
        _ => Contains::Default,
    };
    // Aggregates of thresholds have their values beside them in these recordings.
    let threshold = |(source, judged): (&String, &Value)| {
        let aggregate = source.split(['<', '>', '=']).next().expect("a text has a first part").to_owned();
        let value = number(&aggregate);
        Threshold { source: source.clone(), aggregate, value, ok: judged["ok"] == Value::Bool(true) }
    };
    let thresholds = metric["thresholds"].as_object().into_iter().flatten().map(threshold).collect();
    // The order of columns is that of the options.
    let trend = |name: &str| (name.to_owned(), number(name));
    let values = match metric["type"].as_str() {
        Some("counter") => Values::Counter { count: number("count"), rate: number("rate") },
        Some("gauge") => Values::Gauge { value: number("value"), min: number("min"), max: number("max") },
        Some("rate") => Values::Rate { rate: number("rate"), passes: count("passes"), fails: count("fails") },
        _ => Values::Trend(["avg", "min", "count", "p(99.9)"].map(trend).to_vec()),
    };
    Metric { contains, values, thresholds }
}

fn groups(from: &Value, to: &mut Group) {
    for check in from["checks"].as_array().into_iter().flatten() {
        let count = |name: &str| check[name].as_u64().expect("it is a count");
        to.count(check["name"].as_str().expect("it is a name"), count("passes"), count("fails"));
    }
    for group in from["groups"].as_array().into_iter().flatten() {
        groups(group, to.at(&format!("::{}", group["name"].as_str().expect("it is a name"))));
    }
}

/// In these recordings the checks ran in the order of their groups.
fn checks(group: &Value, to: &mut Vec<Check>) {
    for check in group["checks"].as_array().into_iter().flatten() {
        let count = |name: &str| check[name].as_u64().expect("it is a count");
        Check::count(to, check["name"].as_str().expect("it is a name"), count("passes"), count("fails"));
    }
    group["groups"].as_array().into_iter().flatten().for_each(|inner| checks(inner, to));
}

fn data(text: &str) -> Value {
    serde_json::from_str(text).expect("the recording is JSON")
}

#[test]
fn texts_are_those_of_k6() {
    for (mode, recorded, printed) in [
        (Mode::Compact, include_str!("recorded/compact.json"), include_str!("recorded/compact.txt")),
        (Mode::Legacy, include_str!("recorded/legacy.json"), include_str!("recorded/legacy.txt")),
    ] {
        let text = text(&summary(&data(recorded)), mode);
        let differs = text.lines().zip(printed.lines()).find(|(ours, theirs)| ours != theirs);
        assert_eq!(differs, None, "{mode:?}\n{text}");
        assert_eq!(text, printed, "{mode:?}");
    }
}

#[test]
fn data_and_export_have_the_values_of_k6() {
    let recorded = data(include_str!("recorded/legacy.json"));
    let mut summary = summary(&recorded);
    assert_eq!(data(&json::argument(&summary)), recorded);
    let exported = data(include_str!("recorded/legacy-export.json"));
    assert_eq!(data(&json::export(&summary)), exported);
    summary.setup_data = Some(r#"{"token":"t"}"#.to_owned());
    assert_eq!(data(&json::argument(&summary))["setup_data"]["token"], "t");
}
