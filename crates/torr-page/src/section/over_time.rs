//! Throughput, percentiles, errors and CPU time over time, one below the other on the same axis.

mod connections;
mod cpu;
mod due;
mod errors;
pub mod point;
pub mod recent;
pub mod time;
mod times;

use super::moment::TimeOfDay;
use super::steering::{moments as steered_at, steering};
use crate::fields::{has_streams, number, text};
use crate::plot::envelope::columns;
use crate::plot::heat;
use crate::plot::line::line;
use crate::plot::scale::Scale;
use crate::plot::tick::{clock, count_tick, moments};
use maud::{Markup, html};
use point::{Point, points};
use serde_json::Value;
use time::{Time, columns_of, ended, most};
use torr_report::human::{count, micros, percent, rate};

/// Returns the plots of a run's series; nothing for fewer than two points.
pub fn over_time(value: &Value) -> Markup {
    let mut points = points(value);
    let intervals: Vec<_> = points.iter_mut().filter_map(|point| point.map.take()).collect();
    let [_, .., last] = &points[..] else { return html! {} };
    let steered = steered_at(value).into_iter().filter(|moment| *moment <= last.t).collect();
    let x_labels: Vec<_> = moments(last.t).into_iter().map(|t| (t, clock(t))).collect();
    let time = Time { x: Scale::Linear(0.0, last.t), x_labels: x_labels.clone(), steered, marks: Vec::new() };
    let (counted, map_words) = match has_streams(value) {
        true => ("events", heat::GAPS),
        false => ("responses", heat::RESPONSES),
    };
    html! {
        section data-until=(last.t) {
            h2 { "Over time" }
            div.plots tabindex="0" role="group" aria-label="Plots over time: arrow keys show each interval, plus and minus a part of the run, Escape the whole" {
                (throughput(value, counted, &points, &time))
                (times::times(has_streams(value), &points, &time))
                (errors::errors(&points, &time))
                (connections::connections(&points, &time))
                (connections::lag(&points, &time))
                (cpu::cpu(value, &points, &time))
            }
            (steering(value))
            (table(value, counted, &points))
            (heat::map(map_words, &intervals, time.x, x_labels))
        }
    }
}

/// Returns the plot of what was reached, and in an open loop of what was due.
fn throughput(value: &Value, counted: &str, points: &[Point], time: &Time) -> Markup {
    const HEIGHT: f64 = 140.0;
    let reached = columns_of(points, |point| Some(point.per_s));
    let due = columns(&due::due(value, time.x));
    let axis = (Scale::from_zero(most(&reached).max(most(&due))), count_tick as fn(f64) -> String);
    let lines = html! {
        (line(&due, time.x, axis.0, HEIGHT, "f")) (line(&reached, time.x, axis.0, HEIGHT, "a"))
    };
    let mut description = format!("{counted} per second");
    let mut ends = Vec::new();
    if !due.is_empty() {
        description += ", and requests that were due (dashed)";
        ends.extend(ended("due", "f", &due).into_iter().chain(ended("reached", "a", &reached)));
    }
    time.plot(("Throughput", description), axis, HEIGHT, &lines, ends)
}

/// The most rows of the table; more points are shown every so many, and the table says so.
const ROWS: usize = 600;

fn table(value: &Value, counted: &str, points: &[Point]) -> Markup {
    let per_s = format!("{counted}/s");
    let step = points.len().div_ceil(ROWS).max(1);
    let time = |time: Option<f64>| time.map_or("–".into(), micros);
    let cores = |cores: Option<f64>| cores.map_or("–".into(), |cores| format!("{cores:.2}"));
    let has_generator = points.iter().any(|point| point.generator.is_some());
    let has_server = points.iter().any(|point| point.server.is_some());
    let has_connections = points.iter().any(|point| point.connections.is_some());
    let has_lag = points.iter().any(|point| point.lag.is_some());
    let warmup_s = number(value, "plan.warmup_s").unwrap_or(0.0);
    let begun = text(value, "started_at").and_then(|at| TimeOfDay::after(at, warmup_s));
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
                            th scope="col" { "until" }
                            @if begun.is_some() { th scope="col" { "UTC" } }
                            @for name in [per_s.as_str(), "errors", "p50", "p99"] { th scope="col" { (name) } }
                            @if has_generator { th scope="col" { "CPUs, generator" } }
                            @if has_server { th scope="col" { "CPUs, server" } th scope="col" { "machine" } }
                            @if has_connections { th scope="col" { "connections" } }
                            @if has_lag { th scope="col" { "longest send lag" } }
                        }
                    }
                    tbody {
                        @for point in points.iter().step_by(step) {
                            tr data-t=(point.t) {
                                td { (clock(point.t)) }
                                @if let Some(begun) = begun { td { (begun.at(point.t)) } }
                                td { (rate(point.per_s)) } td { (count(point.errors as u64)) }
                                td { (time(point.p50)) } td { (time(point.p99)) }
                                @if has_generator { td { (cores(point.generator)) } }
                                @if has_server {
                                    td { (cores(point.server)) } td { (point.machine.map_or("–".into(), percent)) }
                                }
                                @if has_connections { td { (count(point.connections.unwrap_or(0.0) as u64)) } }
                                @if has_lag { td { (time(point.lag)) } }
                            }
                        }
                    }
                }
            }
        }
    }
}
