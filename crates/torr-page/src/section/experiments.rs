//! The experiments of a diagnosis as a trail that can be unfolded.

use super::figures::failures;
use super::header::load;
use super::ladder::{Rung, drawn};
use super::verdict::evidence;
use crate::fields::{field, list, number, text, texts};
use maud::{Markup, html};
use serde_json::Value;
use torr_report::human::{count, micros, rate};

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
    drawn(&rungs, None, None, number(value, "figures.null_rps"))
}

/// Returns the trail.
pub fn experiments(value: &Value) -> Markup {
    let trail = list(value, "trail");
    html! {
        @for remark in texts(value, "remarks") { p.caution { (remark) } }
        @if !trail.is_empty() {
            section {
                h2 { "Experiments" }
                ol.trail { @for step in trail { li { (experiment(step)) } } }
            }
        }
    }
}

fn experiment(step: &Value) -> Markup {
    let run = field(step, "run");
    let figure = run.and_then(|run| {
        let per_s = rate(number(run, "rps")?);
        Some(match number(run, "latency_us.p50") {
            Some(p50) => format!("{per_s}/s, p50 {}", micros(p50)),
            None => format!("{per_s}/s"),
        })
    });
    html! {
        details {
            summary {
                span.what { (text(step, "experiment").unwrap_or("an experiment")) }
                @if let Some(figure) = figure { span.faint { (figure) } }
            }
            div.inside {
                p.sub { (text(step, "why").unwrap_or_default()) }
                @if let Some(run) = run {
                    p {
                        (load(run)) ": " (count(number(run, "requests").unwrap_or(0.0) as u64)) " responses, "
                        (count(failures(run) as u64)) " errors"
                        @if let Some(p99) = number(run, "latency_us.p99") { ", p99 " (micros(p99)) }
                        @if let Some(cores) = number(run, "host.server_cores") { ", the server used " (format!("{cores:.2}")) " CPUs" }
                        "."
                    }
                    @if let Some(verdict) = field(run, "verdict") { (evidence(verdict)) }
                }
            }
        }
    }
}
