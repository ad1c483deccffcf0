//! The checks, thresholds and metrics that a k6 script measures by itself.

use crate::fields::{field, flag, list, number, text};
use crate::plot::bar::bar;
use maud::{Markup, html};
use serde_json::{Map, Value};
use torr_report::human::{bytes, count, micros, percent};

/// The most metrics of a table: a script may make one for each URL.
const MOST: usize = 200;

/// Returns the sections of a script's checks, thresholds and metrics.
pub fn script(value: &Value) -> Markup {
    let Some(metrics) = field(value, "script.metrics").and_then(Value::as_object) else { return html! {} };
    html! {
        (thresholds(metrics))
        (checks(list(value, "script.checks")))
        (table(metrics))
    }
}

/// Returns the table of thresholds, the failed ones first.
fn thresholds(metrics: &Map<String, Value>) -> Markup {
    let mut all: Vec<_> = metrics
        .iter()
        .flat_map(|(name, metric)| list(metric, "thresholds").iter().map(move |threshold| (name, metric, threshold)))
        .collect();
    all.sort_by_key(|(_, _, threshold)| flag(threshold, "ok"));
    html! {
        @if !all.is_empty() {
            section {
                h2 { "Thresholds" }
                div.wide tabindex="0" role="group" aria-label="Thresholds" {
                    table {
                        thead { tr { th { "metric" } th { "threshold" } th { "measured" } th { "" } } }
                        tbody {
                            @for (name, metric, threshold) in all {
                                @let expression = text(threshold, "expression").unwrap_or_default();
                                tr {
                                    td.words { (name) } td { (expression) }
                                    td { (measured(metric, expression, number(threshold, "value"))) }
                                    @if flag(threshold, "ok") { td.good { "passed" } } @else { td.bad { "failed" } }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn checks(checks: &[Value]) -> Markup {
    html! {
        @if !checks.is_empty() {
            section {
                h2 { "Checks" }
                div.wide tabindex="0" role="group" aria-label="Checks" {
                    table {
                        thead { tr { th { "check" } th { "group" } th { "passed" } th { "failed" } td {} } }
                        tbody {
                            @for check in checks {
                                @let (passes, fails) = (whole(check, "passes"), whole(check, "fails"));
                                tr {
                                    td.words { (text(check, "name").unwrap_or_default()) }
                                    td.words { (text(check, "group").unwrap_or_default().trim_start_matches("::")) }
                                    td { (count(passes)) }
                                    @if fails > 0 { td.bad { (count(fails)) } } @else { td { "0" } }
                                    td.drawn { (bar(passes as f64 / (passes + fails).max(1) as f64, "a")) }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn table(metrics: &Map<String, Value>) -> Markup {
    html! {
        section {
            h2 { "Script metrics" }
            details open[metrics.len() <= 12] {
                summary { "Metrics as k6 counts them" }
                div.wide tabindex="0" role="group" aria-label="Script metrics" {
                    table {
                        tbody {
                            @for (name, metric) in metrics.iter().take(MOST) {
                                tr { td.words { (name) } td.words { (figures(metric)) } }
                            }
                        }
                    }
                }
                @if metrics.len() > MOST { p.sub { (metrics.len() - MOST) " more metrics are in the JSON result." } }
            }
        }
    }
}

/// Returns the values of a metric in one line.
fn figures(metric: &Value) -> String {
    let Some(values) = field(metric, "values").and_then(Value::as_object) else { return String::new() };
    let kind = text(metric, "kind").unwrap_or_default();
    let mut parts = Vec::new();
    for (name, value) in values {
        let Some(value) = value.as_f64() else { continue };
        parts.push(match (kind, &**name) {
            ("rate", "rate") => percent(value),
            ("rate", _) => format!("{name} {}", count(value as u64)),
            ("counter", "rate") => format!("{} per second", shown(metric, value)),
            _ => format!("{name} {}", shown(metric, value)),
        });
    }
    parts.join(" · ")
}

/// Returns the measured value of a threshold.
fn measured(metric: &Value, expression: &str, value: Option<f64>) -> String {
    let Some(value) = value else { return "–".to_owned() };
    match (text(metric, "kind"), expression.trim_start().starts_with("rate")) {
        (Some("rate"), _) => percent(value),
        _ => shown(metric, value),
    }
}

/// Returns a value in the unit of its metric.
fn shown(metric: &Value, value: f64) -> String {
    match text(metric, "contains") {
        Some("time") => micros(value * 1e3),
        Some("data") => bytes(value),
        _ if value.fract() == 0.0 && value.abs() < 1e15 => count(value.abs() as u64),
        _ => format!("{value:.2}"),
    }
}

fn whole(value: &Value, path: &str) -> u64 {
    number(value, path).map_or(0, |number| number as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn failed_thresholds_come_first_and_values_have_their_units() {
        let value = json!({"script": {
            "metrics": {
                "checks": {"kind": "rate", "contains": "default", "values": {"rate": 0.5, "passes": 2, "fails": 2},
                    "thresholds": [{"expression": "rate>0.4", "value": 0.5, "ok": true}]},
                "wait": {"kind": "trend", "contains": "time", "values": {"avg": 1.5},
                    "thresholds": [{"expression": "avg<1", "value": 1.5, "ok": false}]},
            },
            "checks": [{"group": "::login", "name": "is <ok>", "passes": 2, "fails": 2}],
        }});
        let page = script(&value).into_string();
        let (failed, passed) =
            (page.find("avg&lt;1").expect("it is listed"), page.find("rate&gt;0.4").expect("it is listed"));
        assert!(failed < passed, "{page}");
        assert!(page.contains("avg 1.50 ms") && page.contains("is &lt;ok&gt;") && page.contains(">login<"), "{page}");
        assert_eq!(script(&json!({})).into_string(), "");
    }
}
