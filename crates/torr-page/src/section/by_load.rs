//! The loads that a search for a limit tried: times and errors by rate, or by streams at a time, the objectives, and the limit.

use crate::fields::{flag, list, number, text, texts};
use crate::plot::WIDTH;
use crate::plot::dots::dots;
use crate::plot::envelope::Column;
use crate::plot::frame::{EndLabel, Frame};
use crate::plot::line::{area, line, path};
use crate::plot::scale::Scale;
use crate::plot::tick::{count_tick, percent_tick, time_tick};
use maud::{Markup, html};
use serde_json::Value;
use torr_gauge::threshold::Objective;
use torr_report::human::per_second;

/// The height of the plot of response times, and of that of errors, in pixels.
const HEIGHT: f64 = 240.0;
const HEIGHT_OF_ERRORS: f64 = 80.0;
/// The most labels of the horizontal axis.
const LABELS: usize = 6;

/// What was searched, with the words of its plots.
struct Unit {
    heading: &'static str,
    /// Where a step has its load, and where its times.
    load: &'static str,
    p50: &'static str,
    p99: &'static str,
    /// The text of a load.
    text: fn(f64) -> String,
    times: &'static str,
    by: &'static str,
    errors: &'static str,
    /// Whether an objective is about the times.
    is_about: fn(&str) -> bool,
}

const RATES: Unit = Unit {
    heading: "By rate",
    load: "load.rate",
    p50: "latency_us.p50",
    p99: "latency_us.p99",
    text: per_second,
    times: "Response time by rate",
    by: "requests per second",
    errors: "Errors by rate",
    is_about: |_| true,
};

const STREAMS: Unit = Unit {
    heading: "By streams",
    load: "load.streams",
    p50: "streams.gap_us.p50",
    p99: "streams.gap_us.p99",
    text: |streams| format!("{} streams", count_tick(streams)),
    times: "Gap between events by streams",
    by: "streams at a time",
    errors: "Errors by streams",
    is_about: |rule| rule.starts_with("gap_"),
};

/// A step of the search.
struct Step {
    load: f64,
    p50: Option<f64>,
    p99: Option<f64>,
    errors: f64,
    is_kept: bool,
    /// Whether it was a try beyond the limit that was found, which is no part of the curve.
    is_overload: bool,
}

/// Returns the plots; nothing for fewer than two loads.
pub fn by_load(value: &Value) -> Markup {
    let unit = if text(value, "unit") == Some("streams") { STREAMS } else { RATES };
    let step = |step: &Value| {
        Some(Step {
            load: number(step, unit.load).filter(|load| *load > 0.0)?,
            p50: number(step, unit.p50),
            p99: number(step, unit.p99),
            errors: number(step, "error_share").unwrap_or(0.0),
            is_kept: flag(step, "kept"),
            is_overload: text(step, "purpose") == Some("overload"),
        })
    };
    let steps: Vec<_> = list(value, "steps").iter().filter_map(step).collect();
    let medians = |figure: fn(&Step) -> Option<f64>| by_rate(&steps, figure);
    let (p50, p99) = (medians(|step| step.p50), medians(|step| step.p99));
    if p50.len() < 2 {
        return html! {};
    }
    let most = steps.iter().map(|step| step.load).fold(0.0, f64::max);
    let x = Scale::from_zero(most);
    let ticks = x.ticks();
    let each = ticks.len().div_ceil(LABELS).max(1);
    let x_labels: Vec<_> = ticks.into_iter().step_by(each).map(|tick| (tick, count_tick(tick))).collect();
    let sustained = number(value, "sustained.rate").or_else(|| number(value, "sustained.streams.at_a_time"));
    let mark = |limit: f64| (limit, format!("limit {}", (unit.text)(limit)));
    let marks: Vec<_> = sustained.map(mark).into_iter().collect();
    // From here on the service failed its objectives.
    let fails_at = number(value, "fails_at").filter(|rate| *rate < most);
    let above = |height: f64| {
        let from = fails_at.map(|rate| x.share(rate) * WIDTH);
        html! { @if let Some(from) = from { path.above d=(format!("M{from:.1} 0H{WIDTH}V{height}H{from:.1}Z")) {} } }
    };
    html! {
        section {
            h2 { (unit.heading) }
            (times(&unit, value, &steps, (&p50, &p99), x, (&x_labels, &marks), &above(HEIGHT)))
            @if steps.iter().any(|step| step.errors > 0.0) {
                (errors(&unit, &steps, x, (&x_labels, &marks), &above(HEIGHT_OF_ERRORS)))
            } @else { p.sub { "No errors at any load." } }
        }
    }
}

/// The labels and the marks of the horizontal axis.
type Axis<'a> = (&'a [(f64, String)], &'a [(f64, String)]);

/// Returns the plot of times by load, with the objectives.
fn times(
    unit: &Unit,
    value: &Value,
    steps: &[Step],
    (p50, p99): (&[Column], &[Column]),
    x: Scale,
    (x_labels, marks): Axis<'_>,
    above: &Markup,
) -> Markup {
    let rules = texts(value, "slo").filter(|rule| (unit.is_about)(rule));
    let objectives: Vec<f64> = rules.filter_map(|rule| Objective::parse(rule).ok()?.limit_us()).collect();
    let figures = || p50.iter().chain(p99).flat_map(|column| [column.least, column.most]).chain(objectives.clone());
    let y = Scale::of_times(figures().fold(f64::INFINITY, f64::min).max(1.0), figures().fold(0.0, f64::max));
    let of = |is_kept: bool| -> Vec<_> {
        let steps = steps.iter().filter(|step| step.is_kept == is_kept);
        steps.filter_map(|step| Some((step.load, step.p99?))).collect()
    };
    let lines = html! {
        (above)
        (area(p50, p99, x, y, HEIGHT, "b"))
        @for limit in &objectives {
            @let height = (1.0 - y.share(*limit)) * HEIGHT;
            path.rule d=(path([(0.0, height), (WIDTH, height)].into_iter())) {}
        }
        (line(p50, x, y, HEIGHT, "a")) (line(p99, x, y, HEIGHT, "b"))
        (dots(&of(true), x, y, HEIGHT, "b")) (dots(&of(false), x, y, HEIGHT, "bad"))
    };
    let end = |text: &str, class, columns: &[Column]| {
        columns.last().map(|last| EndLabel { text: text.into(), figure: last.most, class })
    };
    let limits = objectives.iter().map(|limit| EndLabel { text: time_tick(*limit), figure: *limit, class: "f" });
    let frame = Frame {
        title: unit.times,
        description: format!(
            "median and 99th percentile by {}; a dot is a step, a red one failed{}",
            unit.by,
            if objectives.is_empty() { "" } else { "; objectives are dashed" }
        ),
        height: HEIGHT,
        x,
        x_labels: x_labels.to_vec(),
        y,
        y_text: time_tick,
        ends: end("p50", "a", p50).into_iter().chain(end("p99", "b", p99)).chain(limits).collect(),
        marks: marks.to_vec(),
    };
    frame.around(&lines, &html! {})
}

/// Returns the plot of errors by load.
fn errors(unit: &Unit, steps: &[Step], x: Scale, (x_labels, marks): Axis<'_>, above: &Markup) -> Markup {
    let columns = by_rate(steps, |step| Some(step.errors));
    let y = Scale::from_zero(steps.iter().map(|step| step.errors).fold(0.0, f64::max));
    let points: Vec<_> = steps.iter().map(|step| (step.load, step.errors)).collect();
    let lines = html! {
        (above) (line(&columns, x, y, HEIGHT_OF_ERRORS, "bad")) (dots(&points, x, y, HEIGHT_OF_ERRORS, "bad"))
    };
    let frame = Frame {
        title: unit.errors,
        description: "share of requests that failed".into(),
        height: HEIGHT_OF_ERRORS,
        x,
        x_labels: x_labels.to_vec(),
        y,
        y_text: percent_tick,
        ends: Vec::new(),
        marks: marks.to_vec(),
    };
    frame.around(&lines, &html! {})
}

/// Returns the median of a figure at each load, by ascending load.
fn by_rate(steps: &[Step], figure: fn(&Step) -> Option<f64>) -> Vec<Column> {
    let curve = steps.iter().filter(|step| !step.is_overload);
    let mut known: Vec<_> = curve.filter_map(|step| Some((step.load, figure(step)?))).collect();
    known.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let median = |same: &[(f64, f64)]| {
        let figure = same[same.len() / 2].1;
        Column { x: same[0].0, least: figure, most: figure }
    };
    known.chunk_by(|a, b| a.0 == b.0).map(median).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_that_was_tried_again_has_one_median() {
        let step = |load, p99| Step { load, p50: None, p99: Some(p99), errors: 0.0, is_kept: true, is_overload: false };
        let steps = [step(200.0, 9.0), step(100.0, 1.0), step(200.0, 5.0), step(200.0, 6.0)];
        let found: Vec<_> = by_rate(&steps, |step| step.p99).iter().map(|column| (column.x, column.most)).collect();
        assert_eq!(found, [(100.0, 1.0), (200.0, 6.0)]);
        assert!(by_rate(&steps, |step| step.p50).is_empty());
    }
}
