//! The agents of a run over a fleet.

use crate::fields::{field, list, number, text};
use crate::plot::bar::bar;
use maud::{Markup, html};
use serde::Deserialize;
use serde_json::Value;
use torr_gauge::fleet::Fleet;
use torr_report::human::{count, micros, percent, rate};
use torr_report::sentence::fleet::shortcomings;

/// What stands for a figure that is not known.
const NONE: &str = "–";

/// Returns what makes a run over a fleet another one than was planned: agents that were lost, failed or ended early. It stands above
/// all figures.
pub fn cautions(value: &Value) -> Markup {
    let lines = fleet(value).map_or_else(Vec::new, |fleet| shortcomings(&fleet));
    html! { @for line in lines { p.caution { (line) } } }
}

fn fleet(value: &Value) -> Option<Fleet> {
    Fleet::deserialize(field(value, "fleet")?).ok()
}

/// Returns the table of agents.
pub fn agents(value: &Value) -> Markup {
    let agents = list(value, "fleet.agents");
    html! {
        @if !agents.is_empty() {
            section {
                h2 { "Agents" }
                div.wide tabindex="0" role="group" aria-label="Agents" {
                    table {
                        thead {
                            tr {
                                th { "agent" } th { "share" } th { "connections" } th { "requests/s" } th { "errors" }
                                th { "p99 send lag" } th { "began" } th { "busy" } td {} td {}
                            }
                        }
                        tbody { @for agent in agents { (row(agent)) } }
                    }
                }
            }
        }
    }
}

fn row(agent: &Value) -> Markup {
    let known = |path: &str, words: fn(f64) -> String| number(agent, path).map_or(NONE.into(), words);
    let busy = number(agent, "busy_share");
    html! {
        tr {
            td.words { (text(agent, "name").unwrap_or_default()) }
            td { (known("share", percent)) }
            td { (known("connections", |n| count(n as u64))) }
            td { (known("rps", rate)) }
            td { (known("errors", |n| count(n as u64))) }
            td { (known("send_lag_p99_us", micros)) }
            td { (known("began_us", after)) }
            td { (known("busy_share", percent)) }
            td.drawn { @if let Some(busy) = busy { (bar(busy, "a")) } }
            td.words { (became(agent)) }
        }
    }
}

/// Returns a time after the set one.
fn after(us: f64) -> String {
    format!("{}{}", if us < 0.0 { "-" } else { "+" }, micros(us.abs()))
}

/// Returns what is to be said of an agent, nothing of most.
fn became(agent: &Value) -> String {
    let state = text(agent, "state").filter(|&state| state != "ended");
    let limit = (agent["was_limit"] == true).then_some("was itself the limit");
    [state, limit].into_iter().flatten().collect::<Vec<_>>().join(", ")
}
