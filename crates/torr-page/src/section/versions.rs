//! The comparison of two versions: each metric with its interval, and the thresholds.

use super::metrics::{name_of, shown};
use crate::fields::{field, flag, list, number, text, texts};
use crate::plot::interval::{axis, interval};
use maud::{Markup, html};
use serde_json::Value;
use torr_report::human::{count, micros, percent, rate};

/// A metric of both versions.
struct Finding<'v> {
    name: &'v str,
    a: Option<f64>,
    b: Option<f64>,
    interval: Option<[f64; 2]>,
    margin: f64,
    outcome: &'v str,
}

/// Returns the findings of the comparison.
pub fn versions(value: &Value) -> Markup {
    let findings: Vec<_> = list(value, "findings").iter().filter_map(finding).collect();
    let away = |finding: &Finding<'_>| {
        let [low, high] = finding.interval.unwrap_or([1.0; 2]);
        (low - 1.0).abs().max((high - 1.0).abs()).max(finding.margin)
    };
    let most = findings.iter().map(away).filter(|away| away.is_finite()).fold(0.0, f64::max) * 1.1;
    // Ends of the axis are whole percents.
    let most = (most * 100.0).ceil() / 100.0;
    html! {
        section.verdict {
            @if let Some(main) = findings.first() { p.sentence { (name_of(main.name)) " of B, compared with A: " (words(main)) } }
            @else { p.sentence { "The comparison has no measurements." } }
        }
        (rules(value))
        section {
            h2 { "A and B" }
            p.sub { strong { "A " } (text(value, "a").unwrap_or_default()) }
            p.sub { strong { "B " } (text(value, "b").unwrap_or_default()) }
            @if !findings.is_empty() {
            p.sub { "Bars are 99% intervals of the change from A to B; the grey band in the middle counts as no difference." }
            div.wide tabindex="0" role="group" aria-label="Metrics of both versions" {
                table {
                    thead { tr { th scope="col" { "metric" } th scope="col" { "A" } th scope="col" { "B" } th scope="col" { "change" } td.drawn { (axis(most)) } } }
                    tbody {
                        @for finding in &findings { (row(finding, most)) }
                        (means(value))
                    }
                }
            }
            }
            (facts(value))
        }
    }
}

fn finding(value: &Value) -> Option<Finding<'_>> {
    let at = |index: usize| list(value, "interval").get(index).and_then(Value::as_f64);
    let is_measured = number(value, "a").is_some() || number(value, "pairs").is_some_and(|pairs| pairs > 0.0);
    is_measured.then_some(Finding {
        name: text(value, "metric")?,
        a: number(value, "a"),
        b: number(value, "b"),
        interval: at(0).zip(at(1)).map(|(low, high)| [low, high]),
        margin: number(value, "margin").unwrap_or(0.02),
        outcome: text(value, "outcome").unwrap_or("cannot_tell"),
    })
}

fn row(finding: &Finding<'_>, most: f64) -> Markup {
    let class = if finding.outcome == "different" { "b" } else { "a" };
    let cell = |figure: Option<f64>| figure.map_or("–".into(), |figure| shown(finding.name, figure));
    html! {
        tr {
            th scope="row" { (name_of(finding.name)) }
            td { (cell(finding.a)) } td { (cell(finding.b)) } td { (words(finding)) }
            td.drawn { @if let Some(of) = finding.interval { (interval(of, finding.margin, most, class)) } }
        }
    }
}

/// Returns the row of the mean response times, which are not tested.
fn means(value: &Value) -> Markup {
    let of = |name: &str| number(value, &format!("means.{name}"));
    html! {
        @if let (Some(a), Some(b), Some(ratio)) = (of("a"), of("b"), of("ratio")) {
            tr {
                th scope="row" { "Mean response time" }
                td { (micros(a)) } td { (micros(b)) } td { (format!("{:+.1}%, not tested", (ratio - 1.0) * 100.0)) } td {}
            }
        }
    }
}

fn words(finding: &Finding<'_>) -> String {
    let change = |ratio: f64| format!("{:+.1}%", (ratio - 1.0) * 100.0);
    match (finding.outcome, finding.interval) {
        ("different", Some([low, high])) => format!("{} to {}", change(low), change(high)),
        ("same", _) => format!("the same within {}", percent(finding.margin)),
        (_, Some([low, high])) => format!("cannot tell: {} to {}", change(low), change(high)),
        _ => "cannot tell".into(),
    }
}

fn rules(value: &Value) -> Markup {
    let rules = list(value, "rules");
    let class = |outcome: &str| match outcome {
        "passed" => "good",
        "failed" => "bad",
        _ => "faint",
    };
    html! {
        @if !rules.is_empty() {
            h2 { "Thresholds" }
            table {
                thead { tr { th.words { "fails if" } th.words { "because" } th { "outcome" } } }
                tbody {
                    @for rule in rules {
                        @let outcome = text(rule, "outcome").unwrap_or("cannot_tell");
                        tr {
                            td.words { (text(rule, "rule").unwrap_or_default()) }
                            td.words { (text(rule, "because").unwrap_or_default()) }
                            td class=(class(outcome)) { (outcome.replace('_', " ")) }
                        }
                    }
                }
            }
        }
    }
}

fn facts(value: &Value) -> Markup {
    let blocks = list(value, "blocks").len();
    let reasons = field(value, "reasons").and_then(Value::as_object);
    html! {
        @if let Some(per_s) = number(value, "rate") {
            p.sub { (count(blocks as u64)) " blocks in turns; CPU and response times at " (rate(per_s)) " requests/s; seed " (number(value, "seed").unwrap_or(0.0)) "." }
        } @else if blocks == 0 { p.sub { "A comparison of existing results: Torr sent no load." } }
        @if flag(value, "interrupted") { p.caution { "The comparison was interrupted." } }
        @for (reason, count) in reasons.into_iter().flatten() { p.caution { "left out: " (reason.replace('-', " ")) " (" (count) ")" } }
        @for note in texts(value, "notes") { p.sub { (note) } }
    }
}
