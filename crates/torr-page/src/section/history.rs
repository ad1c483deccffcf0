//! A history: the changes of metrics over builds, each metric as a plot, and what changed beside the code.

use super::metrics::{name_of, shown};
use super::moment::moment;
use crate::fields::{list, number, text};
use crate::plot::WIDTH;
use crate::plot::dots::dots;
use crate::plot::frame::Frame;
use crate::plot::line::path;
use crate::plot::scale::Scale;
use crate::plot::tick::{count_tick, time_tick};
use maud::{Markup, html};
use serde_json::Value;
use torr_report::human::{bytes, difference, plural};

/// The height of a plot in pixels.
const HEIGHT: f64 = 140.0;
/// The most labels of the horizontal axis.
const LABELS: usize = 6;

/// Returns the sections.
pub fn history(value: &Value) -> Markup {
    let changes = list(value, "changes");
    let left_out = number(value, "left_out").filter(|count| *count > 0.0);
    html! {
        section {
            h2 { "Changes" }
            @if let Some(count) = left_out {
                p.sub { (plural(count as u64, "run")) " left out: the figures show something else than the service." }
            }
            @if changes.is_empty() { p { "No metric has changed." } } @else { (table(value, changes)) }
        }
        @if !list(value, "beside").is_empty() { (beside(value)) }
        section {
            h2 { "Metrics" }
            p.sub {
                "A dot is a run. A line is the median between two changes, and the band its 95% confidence interval: of fewer \
                 than six runs, the range."
            }
            @for row in list(value, "rows") { (plot(value, row)) }
        }
    }
}

/// Returns the changes, the newest first.
fn table(value: &Value, changes: &[Value]) -> Markup {
    let mut changes: Vec<_> = changes.iter().collect();
    changes.sort_by_key(|change| std::cmp::Reverse(text(change, "started_at")));
    let with = |change: &Value| {
        let at = list(value, "beside").iter().filter(|other| text(other, "run") == text(change, "run"));
        let names: Vec<_> = at.filter_map(|other| text(other, "what")).collect();
        names.join(", ")
    };
    html! {
        div.wide tabindex="0" role="group" aria-label="Changes" {
            table {
                thead {
                    tr {
                        th scope="col" { "metric" } th scope="col" { "change" } th scope="col" { "from" } th scope="col" { "to" }
                        th scope="col" { "by chance" } th.left scope="col" { "first run" } th.left scope="col" { "changed as well" }
                    }
                }
                tbody {
                    @for change in changes {
                        @let metric = text(change, "metric").unwrap_or_default();
                        @let figure = |name: &str| number(change, name).map_or("–".into(), |figure| shown(metric, figure));
                        tr {
                            th scope="row" { (name_of(metric)) }
                            td { (by(change)) } td { (figure("before")) } td { (figure("since")) }
                            td { (number(change, "p").map_or("–".into(), |p| format!("p = {p:.3}"))) }
                            td.left {
                                @if let Some(at) = text(change, "started_at") { (moment(at)) " · " }
                                (text(change, "run").unwrap_or_default())
                            }
                            td.left { (with(change)) }
                        }
                    }
                }
            }
        }
    }
}

/// Returns the ratio of a change, within what has a percentage.
fn ratio(change: &Value) -> Option<f64> {
    number(change, "ratio").map(|ratio| ratio.clamp(0.0, 1e9))
}

/// Returns how much a metric changed, in words.
fn by(change: &Value) -> String {
    let ratio = ratio(change).unwrap_or(1.0);
    format!("{} by {}", if ratio > 1.0 { "rose" } else { "fell" }, difference((ratio - 1.0).abs()))
}

/// Returns what differs between runs and those before them.
fn beside(value: &Value) -> Markup {
    let of = |difference: &Value, name: &str| text(difference, name).unwrap_or_default().to_owned();
    html! {
        section {
            h2 { "Beside the code" }
            p.sub { "Settings and circumstances that are others than in the run before. A change at such a run may not be the code's." }
            div.wide tabindex="0" role="group" aria-label="Settings and circumstances that changed" {
                table {
                    thead {
                        tr {
                            th.left scope="col" { "run" } th.left scope="col" { "what" }
                            th.left scope="col" { "before" } th.left scope="col" { "since" }
                        }
                    }
                    tbody {
                        @for difference in list(value, "beside") {
                            tr {
                                th.left scope="row" { (of(difference, "run")) } td.left { (of(difference, "what")) }
                                td.left { (of(difference, "before")) } td.left { (of(difference, "since")) }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Returns the plot of a metric over the runs; nothing for fewer than two.
fn plot(value: &Value, row: &Value) -> Markup {
    let metric = text(row, "metric").unwrap_or_default();
    let values = list(row, "values").iter().enumerate();
    let points: Vec<_> = values.filter_map(|(at, value)| Some((at as f64, value.as_f64()?))).collect();
    if points.len() < 2 {
        return html! {};
    }
    let builds = list(value, "builds").len();
    let (x, y) = (Scale::Linear(0.0, builds.saturating_sub(1).max(1) as f64), around(&points));
    let levels = list(row, "levels");
    let lines = html! {
        @for level in levels { (drawn(level, x, y)) }
        (dots(&points, x, y, HEIGHT, "a"))
    };
    let changes = list(value, "changes").iter().filter(|change| text(change, "metric") == Some(metric));
    let run_of = |change: &Value| {
        let build = |build: &Value| text(build, "run") == text(change, "run");
        list(value, "builds").iter().position(build)
    };
    let mark = |change: &Value| {
        let ratio = ratio(change)?;
        Some((run_of(change)? as f64, format!("{:+.1}%", (ratio - 1.0) * 100.0)))
    };
    let frame = Frame {
        title: name_of(metric),
        description: format!("in {} of {}", points.len(), plural(builds as u64, "run")),
        height: HEIGHT,
        x,
        x_labels: days(value),
        y,
        y_text: text_of(metric),
        ends: Vec::new(),
        marks: changes.filter_map(mark).collect(),
    };
    frame.around(&lines, &html! {})
}

/// Returns the scale of figures: from 0, or near them where they differ by less than half, as most changes between builds are small.
fn around(points: &[(f64, f64)]) -> Scale {
    let figures = || points.iter().map(|(_, figure)| *figure);
    let (least, most) = (figures().fold(f64::INFINITY, f64::min), figures().fold(0.0, f64::max));
    let room = (most - least) * 0.3 + most * 0.02;
    // Ticks are whole microseconds, or whole numbers.
    let is_near = least > 100.0 && most < 2.0 * least;
    if is_near { Scale::Linear((least - room).max(0.0), most + room) } else { Scale::from_zero(most) }
}

/// Returns the line of a level, and the band of its interval.
fn drawn(level: &Value, x: Scale, y: Scale) -> Markup {
    let of = |name: &str| number(level, name);
    let (Some(from), Some(to), Some(median)) = (of("from"), of("to"), of("median")) else { return html! {} };
    let at = |run: f64, figure: f64| (x.share(run) * WIDTH, (1.0 - y.share(figure)) * HEIGHT);
    let (low, high) = (of("low").unwrap_or(median), of("high").unwrap_or(median));
    let band = path([at(from, low), at(to, low), at(to, high), at(from, high)].into_iter());
    html! {
        path class="band a" d=(band + "Z") {}
        path class="line b" d=(path([at(from, median), at(to, median)].into_iter())) {}
    }
}

/// Returns the days of a few runs as labels.
fn days(value: &Value) -> Vec<(f64, String)> {
    let builds = list(value, "builds");
    let each = builds.len().div_ceil(LABELS).max(1);
    let day = |(at, build): (usize, &Value)| Some((at as f64, text(build, "started_at")?.get(..10)?.to_owned()));
    builds.iter().enumerate().step_by(each).filter_map(day).collect()
}

/// Returns what writes the figures of a metric at its axis.
fn text_of(metric: &str) -> fn(f64) -> String {
    match metric {
        "throughput" | "events" | "instructions" => count_tick,
        "memory" => bytes,
        _ => time_tick,
    }
}
