//! The search for a limit: its conclusion, its figures and its steps.

use super::figures::shown;
use super::thresholds::outcome;
use super::verdict::evidence;
use crate::fields::{field, flag, list, number, text, texts};
use crate::plot::bar::bar;
use crate::plot::tick::count_tick;
use maud::{Markup, html};
use serde_json::Value;
use torr_report::human::{micros, percent, rate};

/// Returns the conclusion in a sentence, with what stops the service above.
pub fn conclusion(value: &Value) -> Markup {
    let sentence = text(value, "summary").unwrap_or("The search ended before it found a rate.");
    // A step may fail its objectives although nothing limited its rate.
    let verdict = field(value, "verdict").filter(|verdict| text(verdict, "factor") != Some("none"));
    html! {
        section.verdict {
            p.sentence { (sentence) }
            @if let Some(verdict) = verdict {
                @if let Some(summary) = text(verdict, "summary") { p { "Above the limit: " (summary) } }
                (evidence(verdict))
            }
            p.sub { "objectives: " (texts(value, "slo").collect::<Vec<_>>().join(", ")) }
        }
        @if let Some(others) = number(value, "disturbance.most.others") {
            p.caution { "Other programs used up to " (percent(others)) " of the machine's CPU in some steps: without them the limit may be higher." }
        }
    }
}

/// Returns the figures at the limit.
pub fn figures(value: &Value) -> Markup {
    let time = |path| number(value, path).map(micros);
    if is_of_streams(value) {
        return shown([
            ("streams at a time", number(value, "sustained.streams.at_a_time").map(count_tick)),
            ("streams at a time that failed", number(value, "fails_at").map(count_tick)),
            ("events/s at the limit", number(value, "sustained.streams.events_per_s").map(rate)),
            ("median gap at the limit", time("sustained.streams.gap_us.p50")),
            ("99th percentile of gaps at the limit", time("sustained.streams.gap_us.p99")),
            ("usual gap of one stream", time("base_gap_us")),
            ("events/s in overload", number(value, "overload.streams.events_per_s").map(rate)),
            ("after overload", text(value, "overload.course").map(str::to_owned)),
        ]);
    }
    shown([
        ("requests/s sustained", number(value, "sustained.rate").map(rate)),
        ("requests/s that failed", number(value, "fails_at").map(rate)),
        ("median at the limit", time("sustained.latency_us.p50")),
        ("99th percentile at the limit", time("sustained.latency_us.p99")),
        ("median without load", time("base_us.p50")),
        ("connections needed", number(value, "connections.recommended").map(|count| count.to_string())),
        ("requests/s in overload", number(value, "overload.good_per_s").map(rate)),
        ("after overload", text(value, "overload.course").map(str::to_owned)),
    ])
}

/// Returns whether the limit is a number of streams at a time.
fn is_of_streams(value: &Value) -> bool {
    text(value, "unit") == Some("streams")
}

/// Returns the steps of the search in their order.
pub fn steps(value: &Value) -> Markup {
    let steps = list(value, "steps");
    let load = |step: &Value| match (number(step, "load.rate"), number(step, "load.streams")) {
        (Some(per_s), _) => format!("{}/s", rate(per_s)),
        (None, Some(streams)) => format!("{} streams", count_tick(streams)),
        (None, None) => number(step, "load.connections").map_or_else(String::new, |count| format!("{count} conn.")),
    };
    let [unit, done, p50, p99] = match is_of_streams(value) {
        true => ["events/s", "streams.events_per_s", "streams.gap_us.p50", "streams.gap_us.p99"],
        false => ["responses/s", "good_per_s", "latency_us.p50", "latency_us.p99"],
    };
    let gap = if is_of_streams(value) { "gap " } else { "" };
    let most = steps.iter().filter_map(|step| number(step, done)).fold(0.0, f64::max);
    html! {
        @if !steps.is_empty() {
            section {
                h2 { "Steps of the search" }
                div.wide tabindex="0" role="group" aria-label="Steps of the search" {
                    table {
                        thead { tr { th { "load" } th { (unit) } td {} th { (gap) "p50" } th { (gap) "p99" } th { "errors" } th { "outcome" } th.words { "why" } } }
                        tbody {
                            @for step in steps {
                                @let failed = !flag(step, "kept");
                                @let good = number(step, done).unwrap_or(0.0);
                                tr {
                                    th scope="row" { (load(step)) }
                                    td { (rate(good)) }
                                    td.drawn { (bar(good / most, if failed { "bad" } else { "a" })) }
                                    td { (number(step, p50).map_or("–".into(), micros)) }
                                    td { (number(step, p99).map_or("–".into(), micros)) }
                                    td { (percent(number(step, "error_share").unwrap_or(0.0))) }
                                    (outcome(failed))
                                    td.words { (text(step, "failure").or(text(step, "why")).unwrap_or_default()) }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}
