//! What the operator did to a run while it went on.

use crate::fields::{list, number, text};
use maud::{Markup, html};
use serde::Deserialize;
use serde_json::Value;
use torr_gauge::steering::SteeringEvent;

/// Returns when something was done, in seconds.
pub fn moments(value: &Value) -> Vec<f64> {
    list(value, "steering").iter().filter_map(|event| number(event, "t")).collect()
}

/// Returns the list of what was done; nothing where nothing was.
pub fn steering(value: &Value) -> Markup {
    let events = list(value, "steering");
    let marks = |until: usize| events[..=until].iter().filter(|event| text(event, "what") == Some("mark")).count();
    let words = |(at, event): (usize, &Value)| match SteeringEvent::deserialize(event) {
        Ok(known) => Some(torr_report::steering::words(&known, marks(at) as u64)),
        // A kind of a newer version has its name.
        Err(_) => text(event, "what").map(str::to_owned),
    };
    html! {
        @if !events.is_empty() {
            p.sub { "An operator changed the run; dashed lines mark the changes." }
            div.wide tabindex="0" role="group" aria-label="Changes by the operator" {
                table {
                    thead { tr { th scope="col" { "at" } th.words scope="col" { "change" } } }
                    tbody {
                        @for (at, event) in events.iter().enumerate() {
                            @if let Some(words) = words((at, event)) {
                                tr { td { (number(event, "t").unwrap_or(0.0)) " s" } td.words { (words) } }
                            }
                        }
                    }
                }
            }
        }
    }
}
