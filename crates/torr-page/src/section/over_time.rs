//! Throughput, percentiles, errors and CPU time over time, one below the other on the same axis.

use super::steering::{moments as steered_at, steering};
use crate::fields::{list, number, text};
use crate::plot::WIDTH;
use crate::plot::envelope::columns;
use crate::plot::frame::{EndLabel, Frame};
use crate::plot::heat::{self, Interval};
use crate::plot::line::{line, path};
use crate::plot::percentiles::Counts;
use crate::plot::scale::Scale;
use crate::plot::tick::{clock, count_tick, moments, time_tick};
use maud::{Markup, html};
use serde_json::Value;
use torr_report::human::{count, micros, percent, rate};

/// A point of the series.
struct Point {
    /// The end of the interval in seconds.
    t: f64,
    /// The middle of the interval in seconds, where a plot has the point.
    middle: f64,
    /// Requests per second within the interval.
    per_s: f64,
    errors: f64,
    p50: Option<f64>,
    p99: Option<f64>,
    /// CPU time in cores.
    generator: Option<f64>,
    server: Option<f64>,
    /// The used part of the server's machine.
    machine: Option<f64>,
    /// How many requests took how long, and within which time.
    map: Option<Interval>,
}

/// A line: its class, its direct label, and its points.
type Series = (&'static str, &'static str, Vec<(f64, f64)>);

/// Returns the plots of a run's series; nothing for fewer than two points.
pub fn over_time(value: &Value) -> Markup {
    let mut points = points(value);
    let intervals: Vec<_> = points.iter_mut().filter_map(|point| point.map.take()).collect();
    let [_, .., last] = &points[..] else { return html! {} };
    let x = Scale::Linear(0.0, last.t);
    let x_labels: Vec<_> = moments(last.t).into_iter().map(|t| (t, clock(t))).collect();
    let plot = |title, description: String, y, y_text, height, series: Vec<Series>| {
        let drawn: Vec<_> = series.into_iter().map(|(class, name, points)| (class, name, columns(&points))).collect();
        let at = |moment: f64| path([(x.share(moment) * WIDTH, 0.0), (x.share(moment) * WIDTH, height)].into_iter());
        let lines = html! {
            @for moment in steered_at(value).into_iter().filter(|moment| *moment <= last.t) { path.rule d=(at(moment)) {} }
            @for (class, _, columns) in &drawn { (line(columns, x, y, height, class)) }
        };
        let end = |(class, name, columns): &(&'static str, &str, Vec<_>)| EndLabel {
            text: (*name).to_owned(),
            figure: columns
                .last()
                .map_or(0.0, |column: &crate::plot::envelope::Column| (column.least + column.most) / 2.0),
            class,
        };
        let ends = drawn.iter().filter(|(_, _, columns)| !columns.is_empty()).map(end).collect();
        Frame { title, description, height, x, x_labels: x_labels.clone(), y, y_text, ends }.around(&lines, &html! {})
    };
    let of = |figure: fn(&Point) -> Option<f64>| -> Vec<(f64, f64)> {
        points.iter().filter_map(|point| Some((point.middle, figure(point)?))).collect()
    };
    let (p50, p99) = (of(|point| point.p50), of(|point| point.p99));
    let times = || p50.iter().chain(&p99).map(|point| point.1);
    let most_rps = points.iter().map(|point| point.per_s).fold(0.0, f64::max);
    let most_errors = points.iter().map(|point| point.errors).fold(0.0, f64::max);
    let y_of_times = Scale::of_times(times().fold(f64::INFINITY, f64::min).max(1.0), times().fold(0.0, f64::max));
    let (generator, server) = (of(|point| point.generator), of(|point| point.server));
    let most_cores = generator.iter().chain(&server).map(|point| point.1).fold(0.0, f64::max);
    let scale = if matches!(y_of_times, Scale::Log(..)) { "on a logarithmic scale" } else { "on a linear scale" };
    html! {
        section data-until=(last.t) {
            h2 { "Over time" }
            (plot("Throughput", "responses per second".into(), Scale::from_zero(most_rps), count_tick, 140.0,
                vec![("a", "", of(|point| Some(point.per_s)))]))
            @if !p50.is_empty() || !p99.is_empty() {
                (plot("Response time", format!("median and 99th percentile of each interval, {scale}"), y_of_times, time_tick, 180.0,
                    vec![("a", "p50", p50.clone()), ("b", "p99", p99.clone())]))
            }
            @if most_errors > 0.0 {
                (plot("Errors", "in each interval".into(), Scale::from_zero(most_errors), count_tick, 80.0,
                    vec![("bad", "", of(|point| Some(point.errors)))]))
            } @else { p.sub { "No errors in any interval." } }
            @if generator.len() + server.len() > 1 {
                (plot("CPU", "CPUs used by the generator (gen) and by the server (srv)".into(), Scale::from_zero(most_cores), count_tick, 100.0,
                    vec![("c", "gen", generator.clone()), ("d", "srv", server.clone())]))
            }
            (steering(value))
            (table(&points))
            (heat::map(&intervals, x, x_labels.clone()))
        }
    }
}

fn points(value: &Value) -> Vec<Point> {
    let mut before = 0.0;
    let point = |point: &Value| {
        let t = number(point, "t")?;
        let from = std::mem::replace(&mut before, t);
        let seconds = t - from;
        let counts = text(point, "latency_histogram").and_then(Counts::parse);
        Some(Point {
            t,
            middle: t - seconds / 2.0,
            per_s: if seconds > 0.0 { number(point, "requests")? / seconds } else { 0.0 },
            errors: number(point, "errors").unwrap_or(0.0),
            p50: number(point, "p50").filter(|time| *time > 0.0),
            p99: number(point, "p99").filter(|time| *time > 0.0),
            generator: number(point, "generator_cores"),
            server: number(point, "server_cores"),
            machine: number(point, "cpu_share"),
            map: counts.map(|counts| Interval { from, to: t, counts }),
        })
    };
    list(value, "series").iter().filter_map(point).collect()
}

/// The most rows of the table; more points are shown every so many, and the table says so.
const ROWS: usize = 600;

fn table(points: &[Point]) -> Markup {
    let step = points.len().div_ceil(ROWS).max(1);
    let time = |time: Option<f64>| time.map_or("–".into(), micros);
    let cores = |cores: Option<f64>| cores.map_or("–".into(), |cores| format!("{cores:.2}"));
    let has_generator = points.iter().any(|point| point.generator.is_some());
    let has_server = points.iter().any(|point| point.server.is_some());
    html! {
        details {
            summary {
                "Figures as a table"
                @if step > 1 { ", each " (step) "th of " (points.len()) " intervals; all are in the JSON" }
            }
            div.wide tabindex="0" role="group" aria-label="Figures over time" {
                table {
                    thead {
                        tr {
                            @for name in ["until", "responses/s", "errors", "p50", "p99"] { th scope="col" { (name) } }
                            @if has_generator { th scope="col" { "CPUs, generator" } }
                            @if has_server { th scope="col" { "CPUs, server" } th scope="col" { "machine" } }
                        }
                    }
                    tbody {
                        @for point in points.iter().step_by(step) {
                            tr data-t=(point.t) {
                                td { (clock(point.t)) } td { (rate(point.per_s)) } td { (count(point.errors as u64)) }
                                td { (time(point.p50)) } td { (time(point.p99)) }
                                @if has_generator { td { (cores(point.generator)) } }
                                @if has_server {
                                    td { (cores(point.server)) } td { (point.machine.map_or("–".into(), percent)) }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}
