//! The entries of a session and the agents of a fleet.

use crate::fields::{list, number, text};
use crate::plot::bar::bar;
use maud::{Markup, html};
use serde_json::Value;
use torr_report::human::{count, micros, rate};

/// Returns the table of entries, and that of agents.
pub fn entries(value: &Value) -> Markup {
    let (entries, agents) = (list(value, "entries"), list(value, "fleet.agents"));
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
                                    td { (whole(entry, "requests")) } td { (whole(entry, "failed")) }
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
        @if !agents.is_empty() {
            section {
                h2 { "Agents" }
                div.wide tabindex="0" role="group" aria-label="Agents" {
                    table {
                        thead { tr { th { "agent" } th { "state" } th { "requests/s" } th { "requests" } th { "errors" } th { "busy" } td {} } }
                        tbody {
                            @for agent in agents {
                                tr {
                                    td.words { (text(agent, "name").unwrap_or_default()) }
                                    td { (text(agent, "state").unwrap_or_default()) }
                                    td { (number(agent, "rps").map_or("–".into(), rate)) }
                                    td { (whole(agent, "requests")) } td { (whole(agent, "errors")) }
                                    td { (number(agent, "busy_share").map_or("–".into(), torr_report::human::percent)) }
                                    td.drawn { (bar(number(agent, "busy_share").unwrap_or(0.0), "a")) }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}
