//! The replay of a log: statuses and response times of the log beside those of the run.

use crate::fields::{field, list, number, text};
use maud::{Markup, html};
use serde_json::Value;
use torr_report::human::{count, micros, printable};

/// The number of paths in the table.
const MOST_PATHS: usize = 100;

/// Returns the section; nothing for a run that replays no log.
pub fn replay(value: &Value) -> Markup {
    let Some(replay) = field(value, "replay") else { return html! {} };
    let of = |value: &Value, name: &str| number(value, name).map_or_else(|| "–".to_owned(), |n| count(n as u64));
    let time = |path: &Value, name: &str| number(path, name).map_or_else(|| "–".to_owned(), micros);
    let changed = list(replay, "statuses").iter().filter(|pair| number(pair, "then") != number(pair, "now"));
    let status = |pair: &Value, name: &str| number(pair, name).map_or_else(|| "–".to_owned(), |n| format!("{n}"));
    let from_to = [text(replay, "from"), text(replay, "to")].map(|time| printable(time.unwrap_or("–")));
    html! {
        section {
            h2 { "Beside the log" }
            p {
                (of(replay, "requests")) " requests from " (from_to[0]) " to " (from_to[1])
                @if let Some(dispersion) = number(replay, "bursts.dispersion") {
                    ", index of dispersion " (format!("{dispersion:.1}")) " (1 at random)"
                }
                ". Statuses that changed: " (of(replay, "changed")) " of " (of(replay, "compared")) "."
            }
            @if changed.clone().next().is_some() {
                table {
                    thead { tr { th scope="col" { "status then" } th scope="col" { "now" } th scope="col" { "responses" } } }
                    tbody {
                        @for pair in changed {
                            tr { th scope="row" { (status(pair, "then")) } td { (status(pair, "now")) } td { (of(pair, "count")) } }
                        }
                    }
                }
            }
            div.wide tabindex="0" role="group" aria-label="Paths beside the log" {
                table {
                    thead {
                        tr {
                            th scope="col" { "path" }
                            th scope="col" { "requests" }
                            th scope="col" { "p50 then" }
                            th scope="col" { "p50 now" }
                            th scope="col" { "p99 then" }
                            th scope="col" { "p99 now" }
                            th scope="col" { "changed" }
                            th scope="col" { "failed" }
                        }
                    }
                    tbody {
                        @for path in list(replay, "paths").iter().take(MOST_PATHS) {
                            tr {
                                th scope="row" {
                                    (printable(text(path, "method").unwrap_or_default())) " "
                                    (printable(text(path, "path").unwrap_or_default()))
                                }
                                td { (of(path, "requests")) }
                                td { (time(path, "then_p50_us")) }
                                td { (time(path, "now_p50_us")) }
                                td { (time(path, "then_p99_us")) }
                                td { (time(path, "now_p99_us")) }
                                td { (of(path, "changed")) }
                                td { (of(path, "failed")) }
                            }
                        }
                    }
                }
            }
        }
    }
}
