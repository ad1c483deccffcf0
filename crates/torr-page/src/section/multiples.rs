//! Several runs side by side: throughput and response times of each over time, all on the same axes.

use super::over_time::point::points;
use super::over_time::time::{columns_of, least, most};
use crate::document::{Document, Kind};
use crate::fields::has_streams;
use crate::plot::envelope::Column;
use crate::plot::frame::Frame;
use crate::plot::line::{area, line};
use crate::plot::scale::Scale;
use crate::plot::tick::{clock, count_tick, time_tick};
use maud::{Markup, html};

/// The height of one plot in pixels.
const HEIGHT: f64 = 70.0;
/// The most runs that are shown.
const RUNS: usize = 12;

/// A run with the columns of its lines.
struct Run<'d> {
    name: &'d str,
    until: f64,
    has_streams: bool,
    per_s: Vec<Column>,
    p50: Vec<Column>,
    p99: Vec<Column>,
}

/// Returns the plots; nothing for fewer than two runs.
pub fn multiples(documents: &[Document]) -> Markup {
    let runs: Vec<_> = documents.iter().filter_map(run).collect();
    let left_out = runs.len().saturating_sub(RUNS);
    let runs = &runs[..runs.len() - left_out];
    let [_, _, ..] = runs else { return html! {} };
    let x = Scale::Linear(0.0, runs.iter().map(|run| run.until).fold(0.0, f64::max));
    let of_rates = Scale::from_zero(most(runs.iter().flat_map(|run| &run.per_s)));
    let of_times =
        Scale::of_times(least(runs.iter().flat_map(|run| &run.p50)), most(runs.iter().flat_map(|run| &run.p99)));
    html! {
        h2 { "Side by side" }
        p.sub { "All plots have the same axes." }
        div.multiples {
            @for run in runs {
                div {
                    (plot(run, (if run.has_streams { "events per second" } else { "responses per second" }).into(), x, (of_rates, count_tick), &line(&run.per_s, x, of_rates, HEIGHT, "a")))
                    @if !run.p99.is_empty() {
                        (plot(run, (if run.has_streams { "gaps, median and p99" } else { "response times, median and p99" }).into(), x, (of_times, time_tick), &html! {
                            (area(&run.p50, &run.p99, x, of_times, HEIGHT, "b"))
                            (line(&run.p50, x, of_times, HEIGHT, "a")) (line(&run.p99, x, of_times, HEIGHT, "b"))
                        }))
                    }
                }
            }
        }
        @if left_out > 0 { p.sub { "The first " (RUNS) " runs are shown." } }
    }
}

fn run(document: &Document) -> Option<Run<'_>> {
    let points = points(&document.value);
    let is_run = document.kind == Kind::Run && points.len() > 1;
    is_run.then(|| Run {
        name: document.name.as_str(),
        until: points.last().map_or(0.0, |point| point.t),
        has_streams: has_streams(&document.value),
        per_s: columns_of(&points, |point| Some(point.per_s)),
        p50: columns_of(&points, |point| point.p50),
        p99: columns_of(&points, |point| point.p99),
    })
}

/// Returns one plot of a run.
fn plot(
    run: &Run<'_>,
    description: String,
    x: Scale,
    (y, y_text): (Scale, fn(f64) -> String),
    lines: &Markup,
) -> Markup {
    let Scale::Linear(_, until) = x else { return html! {} };
    let frame = Frame {
        title: run.name,
        description,
        height: HEIGHT,
        x,
        x_labels: [0.0, until].map(|t| (t, clock(t))).to_vec(),
        y,
        y_text,
        ends: Vec::new(),
        marks: Vec::new(),
    };
    frame.around(lines, &html! {})
}
