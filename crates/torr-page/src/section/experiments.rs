//! The experiments of a diagnosis as a trail that can be unfolded.

use super::figures::failures;
use super::header::load;
use super::ladder::{OF_REQUESTS, OF_STREAMS, Rung, drawn};
use super::verdict::evidence;
use crate::fields::{field, flag, list, number, text, texts};
use maud::{Markup, html};
use serde_json::Value;
use torr_report::human::{count, micros, plural, rate};

/// Returns the ladder that the diagnosis measured.
pub fn ladder(value: &Value) -> Markup {
    let rung = |rung: &Value| {
        Some(Rung {
            connections: number(rung, "connections").filter(|connections| *connections > 0.0)?,
            per_s: number(rung, "rps")?,
            p50: number(rung, "median_s").map(|seconds| seconds * 1e6),
            p99: None,
        })
    };
    let mut rungs: Vec<_> = list(value, "figures.ladder").iter().filter_map(rung).collect();
    rungs.sort_by(|a, b| a.connections.total_cmp(&b.connections));
    let words = if text(value, "setting.streams").is_some() { OF_STREAMS } else { OF_REQUESTS };
    drawn(&rungs, words, None, None, number(value, "figures.null_rps"))
}

/// Returns the trail: the experiments that decided first, the others folded.
pub fn experiments(value: &Value) -> Markup {
    let trail = list(value, "trail");
    let (decided, others): (Vec<_>, Vec<_>) = trail.iter().partition(|step| flag(step, "decided"));
    let steps = |steps: &[&Value]| html! { ol.trail { @for step in steps { li { (experiment(step)) } } } };
    html! {
        @for remark in texts(value, "remarks") { p.caution { (remark) } }
        @if !trail.is_empty() {
            section {
                h2 { "Experiments" }
                // A result of an earlier version marks none.
                @if decided.is_empty() { (steps(&others)) } @else {
                    p.sub { "The verdict rests on " @if decided.len() == 1 { "this experiment" } @else { "these experiments" } ":" }
                    (steps(&decided))
                    @if !others.is_empty() {
                        details.others {
                            summary { (plural(others.len() as u64, "other experiment")) " that excluded other factors or gave a measure" }
                            (steps(&others))
                        }
                    }
                }
            }
        }
    }
}

fn experiment(step: &Value) -> Markup {
    let run = field(step, "run");
    let figure = run.and_then(|run| {
        if let Some(events) = number(run, "streams.events_per_s") {
            let gap = number(run, "streams.gap_us.p50").map(|p50| format!(", gaps p50 {}", micros(p50)));
            return Some(format!("{} events/s{}", rate(events), gap.unwrap_or_default()));
        }
        let per_s = rate(number(run, "rps")?);
        Some(match number(run, "latency_us.p50") {
            Some(p50) => format!("{per_s}/s, p50 {}", micros(p50)),
            None => format!("{per_s}/s"),
        })
    });
    html! {
        details {
            summary {
                span.what { @if flag(step, "decided") { span.mark { "●" } " " } (text(step, "experiment").unwrap_or("an experiment")) }
                @if let Some(figure) = figure { span.faint { (figure) } }
            }
            div.inside {
                p.sub { (text(step, "why").unwrap_or_default()) }
                @if let Some(run) = run {
                    p {
                        (load(run)) ": " (count(number(run, "requests").unwrap_or(0.0) as u64)) " responses, "
                        (count(failures(run) as u64)) " errors"
                        @if let Some(streams) = field(run, "streams") {
                            ", " (count(number(streams, "open").unwrap_or(0.0) as u64)) " streams open at the end"
                            @if let Some(p99) = number(streams, "first_event_us.p99") { ", first events p99 " (micros(p99)) }
                            @if let Some(p99) = number(streams, "gap_us.p99") { ", gaps p99 " (micros(p99)) }
                        } @else if let Some(p99) = number(run, "latency_us.p99") { ", p99 " (micros(p99)) }
                        @if let Some(cores) = number(run, "host.server_cores") { ", the server used " (format!("{cores:.2}")) " CPUs" }
                        "."
                    }
                    @if let Some(verdict) = field(run, "verdict") { (evidence(verdict)) }
                }
            }
        }
    }
}
