//! The streams of a run: how they ended, the times to their first events, and the times between events.

use super::distribution::PERCENTILES;
use crate::fields::{field, has_streams, number, text};
use crate::plot::percentiles::{Counts, Words, titled};
use maud::{Markup, html};
use serde_json::Value;
use torr_report::human::{count, micros};

/// The times of streams with their names.
const TIMES: [(&str, &str); 5] = [
    ("streams.tokens.first_token_us", "first token"),
    ("streams.tokens.gap_us", "gap between tokens"),
    ("streams.first_event_us", "first event"),
    ("streams.gap_us", "gap between events"),
    ("streams.length_us", "whole stream"),
];

/// The plots: the samples, and their words.
const PLOTS: [(&str, Words); 3] = [
    (
        "streams.tokens.first_token_histogram",
        Words { title: "Time to the first token by percentile", name: "first token", slower: "streams begin later" },
    ),
    (
        "streams.first_event_histogram",
        Words { title: "Time to the first event by percentile", name: "first event", slower: "streams begin later" },
    ),
    (
        "streams.gap_histogram",
        Words { title: "Gap between events by percentile", name: "gap", slower: "gaps are longer" },
    ),
];

/// Returns the section; nothing for a run whose responses are no streams.
pub fn streams(value: &Value) -> Markup {
    if !has_streams(value) {
        return html! {};
    }
    let plots = PLOTS
        .into_iter()
        .filter_map(|(path, words)| titled(words, &[(words.name.into(), text(value, path).and_then(Counts::parse)?)]));
    html! {
        section {
            h2 { "Streams" }
            (ends(value))
            (times(value))
            @for plot in plots { (plot) }
        }
    }
}

/// Returns how the streams ended.
fn ends(value: &Value) -> Markup {
    let of = |path| number(value, path).unwrap_or(0.0);
    let failed: f64 = super::figures::without_response(value);
    let rows = [
        ("open when the run ended", of("streams.open")),
        ("ended by the server", of("requests") - of("streams.limited")),
        ("ended by this client as planned", of("streams.limited")),
        ("failed: no event within the idle time-out", of("streams.silent")),
        ("failed for other reasons", failed - of("streams.silent")),
        ("without an event when the run ended", of("unfinished") - of("streams.open")),
    ];
    html! {
        table {
            thead { tr { th scope="col" { "end" } th scope="col" { "streams" } } }
            tbody {
                @for (end, streams) in rows.into_iter().filter(|(_, streams)| *streams > 0.0) {
                    tr { th scope="row" { (end) } td { (count(streams as u64)) } }
                }
            }
        }
    }
}

/// Returns the percentiles of the times.
fn times(value: &Value) -> Markup {
    let rows: Vec<_> = TIMES.into_iter().filter_map(|(path, name)| Some((name, field(value, path)?))).collect();
    let rows: Vec<_> = rows.into_iter().filter(|(_, summary)| summary.is_object()).collect();
    let is_known = |field: &str| rows.iter().any(|(_, summary)| number(summary, field).is_some());
    let columns: Vec<_> = PERCENTILES.into_iter().filter(|(field, _)| is_known(field)).collect();
    html! {
        @if !rows.is_empty() {
            div.wide tabindex="0" role="group" aria-label="Times of streams" {
                table {
                    thead { tr { th scope="col" { "time" } @for (_, name) in &columns { th scope="col" { (name) } } } }
                    tbody {
                        @for (name, summary) in &rows {
                            tr {
                                th scope="row" { (name) }
                                @for (field, _) in &columns {
                                    td { (number(summary, field).map_or("–".into(), micros)) }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}
