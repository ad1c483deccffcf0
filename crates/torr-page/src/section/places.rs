//! The places in the server that a verdict's factor comes from, what could not be seen, and the stacks.

use crate::fields::{field, list, number};
use crate::plot::icicle::icicle;
use maud::{Markup, html};
use serde_json::Value;
use torr_gauge::verdict::Located;
use torr_report::human::percent;
use torr_report::sentence::place_lines;

/// Returns the section of a diagnosis that located its factor.
pub fn places(value: &Value) -> Markup {
    let Some(located) = field(value, "located") else { return html! {} };
    let found: Option<Located> = serde_json::from_value(located.clone()).ok();
    let lines = found.as_ref().map(place_lines).unwrap_or_default();
    if lines.is_empty() {
        return html! {};
    }
    html! {
        section {
            h2 { "Where" }
            dl.places { @for (what, line) in &lines { dt { (what) } dd { (line) } } }
            @if let Some(root) = field(located, "stacks").filter(|root| !list(root, "calls").is_empty()) {
                figure {
                    figcaption {
                        strong { "Stacks" } " "
                        span.faint { "each function is as wide as its share of the samples; callers stand above what they call; your own code is blue" }
                    }
                    (icicle(root))
                }
            }
            @if let Some(kept) = number(located, "kept").filter(|kept| *kept > 0.0) {
                p.sub { "While the server was sampled, throughput was " (percent(kept)) " of that before." }
            }
        }
    }
}
