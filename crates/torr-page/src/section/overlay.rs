//! Several results laid over each other.

use super::figures::failures;
use super::multiples::multiples;
use crate::document::{Document, Kind};
use crate::fields::{number, text};
use crate::plot::bar::bar;
use crate::plot::percentiles::{CLASSES, Counts, plot};
use maud::{Markup, html};
use torr_report::human::{count, micros, rate};

/// Returns the table of all results with bars, and their distributions in one plot.
pub fn overlay(documents: &[Document]) -> Markup {
    let per_s = |document: &Document| match document.kind {
        Kind::Limit => number(&document.value, "sustained.rate"),
        _ => number(&document.value, "rps"),
    };
    let times = |document: &Document, name: &str| match document.kind {
        Kind::Limit => number(&document.value, &format!("sustained.latency_us.{name}")),
        _ => number(&document.value, &format!("latency_us.{name}")),
    };
    let most = documents.iter().filter_map(per_s).fold(0.0, f64::max);
    let slowest = documents.iter().filter_map(|document| times(document, "p99")).fold(0.0, f64::max);
    let counts = |document: &Document| {
        Some((document.name.clone(), Counts::parse(text(&document.value, "latency_histogram")?)?))
    };
    let distributions: Vec<_> = documents.iter().filter_map(counts).collect();
    let left_out = distributions.len().saturating_sub(CLASSES.len());
    let distributions = &distributions[..distributions.len() - left_out];
    html! {
        section.overlay {
            h1 { (documents.len()) " results" }
            p.sub { "'torr compare' shows whether a difference is more than chance." }
            div.wide tabindex="0" role="group" aria-label="All results" {
                table {
                    thead { tr { th { "result" } th { "requests/s" } td {} th { "p50" } th { "p99" } td {} th { "errors" } } }
                    tbody {
                        @for document in documents {
                            tr {
                                td.words { (document.name) br; span.faint { (document.subject()) } }
                                td { (per_s(document).map_or("–".into(), rate)) }
                                td.drawn { (bar(per_s(document).unwrap_or(0.0) / most, "a")) }
                                td { (times(document, "p50").map_or("–".into(), micros)) }
                                td { (times(document, "p99").map_or("–".into(), micros)) }
                                td.drawn { (bar(times(document, "p99").unwrap_or(0.0) / slowest, "b")) }
                                td { @if document.kind == Kind::Run { (count(failures(&document.value) as u64)) } @else { "–" } }
                            }
                        }
                    }
                }
            }
            @if distributions.len() > 1 {
                @if let Some(plot) = plot(distributions) { (plot) }
                @if left_out > 0 { p.sub { "The plot shows the first " (CLASSES.len()) " results." } }
            }
            (multiples(documents))
        }
    }
}
