//! The entries of sessions.

use crate::fields::{list, number, text};
use crate::plot::bar::bar;
use maud::{Markup, html};
use serde_json::Value;
use torr_report::human::{count, micros};

/// Returns the table of entries.
pub fn entries(value: &Value) -> Markup {
    let entries = list(value, "entries");
    let p99 = |entry: &Value| number(entry, "latency_us.p99").or(number(entry, "latency_us.max"));
    let slowest = entries.iter().filter_map(p99).fold(0.0, f64::max);
    let whole = |value: &Value, path: &str| number(value, path).map_or("–".into(), |n| count(n as u64));
    html! {
        @if !entries.is_empty() {
            section {
                h2 { "Entries" }
                div.wide tabindex="0" role="group" aria-label="Entries" {
                    table {
                        thead { tr { th { "entry" } th { "requests" } th { "failed" } th { "p50" } th { "p99" } td {} } }
                        tbody {
                            @for entry in entries {
                                tr {
                                    td.words { (text(entry, "name").unwrap_or_default()) }
                                    td { (whole(entry, "requests")) }
                                    td class=[number(entry, "failed").filter(|failed| *failed > 0.0).map(|_| "bad")] { (whole(entry, "failed")) }
                                    td { (number(entry, "latency_us.p50").map_or("–".into(), micros)) }
                                    td { (p99(entry).map_or("–".into(), micros)) }
                                    td.drawn { (bar(p99(entry).unwrap_or(0.0) / slowest, "b")) }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}
