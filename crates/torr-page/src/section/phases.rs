//! The phases of a request: the time to connect, of the TLS handshake, to the first byte, and all of it.

use super::distribution::PERCENTILES;
use crate::fields::{field, has_streams, number};
use crate::plot::bar::bar;
use maud::{Markup, html};
use serde_json::Value;
use torr_report::human::micros;

/// The phases with their names.
const PHASES: [(&str, &str); 5] = [
    ("phases_us.connect", "connect"),
    ("phases_us.tls", "TLS handshake"),
    ("websocket.handshake_us", "WebSocket handshake"),
    ("phases_us.first_byte", "first byte"),
    ("latency_us", "complete response"),
];

/// The phases of a connection.
const HANDSHAKES: [&str; 3] = ["phases_us.connect", "phases_us.tls", "websocket.handshake_us"];

/// Returns the table of phases with a bar of each mean.
pub fn phases(value: &Value) -> Markup {
    // Of a stream neither its length nor its header section tells how fast the server is.
    let is_apt = |path: &str| !has_streams(value) || HANDSHAKES.contains(&path);
    let phases = PHASES.into_iter().filter(|(path, _)| is_apt(path));
    let phases: Vec<_> = phases.filter_map(|(path, name)| Some((name, field(value, path)?))).collect();
    let mean = |summary| number(summary, "mean").unwrap_or(0.0);
    let most = phases.iter().map(|(_, summary)| mean(summary)).fold(0.0, f64::max);
    if most <= 0.0 {
        return html! {};
    }
    let columns: Vec<_> = PERCENTILES
        .into_iter()
        .filter(|(field, _)| phases.iter().any(|(_, summary)| number(summary, field).is_some()))
        .filter(|(field, _)| !["p75", "p95", "p99_99"].contains(field))
        .collect();
    html! {
        section {
            h2 { "Phases" }
            div.wide tabindex="0" role="group" aria-label="Phases" {
                table {
                    thead {
                        tr { th { "phase" } th { "mean" } td {} @for (_, name) in &columns { th scope="col" { (name) } } }
                    }
                    tbody {
                        @for (name, summary) in &phases {
                            tr {
                                th scope="row" { (name) }
                                td { (micros(mean(summary))) }
                                td.drawn { (bar(mean(summary) / most, "a")) }
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
