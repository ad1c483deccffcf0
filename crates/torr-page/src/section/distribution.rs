//! The distribution of response times.

use crate::fields::{has_streams, number, text};
use crate::plot::histogram::histogram;
use crate::plot::percentiles::{Counts, plot};
use maud::{Markup, html};
use serde_json::Value;
use torr_report::human::micros;

/// The percentiles of a summary, with the names that they are shown by.
pub const PERCENTILES: [(&str, &str); 9] = [
    ("min", "least"),
    ("p50", "p50"),
    ("p75", "p75"),
    ("p90", "p90"),
    ("p95", "p95"),
    ("p99", "p99"),
    ("p99_9", "p99.9"),
    ("p99_99", "p99.99"),
    ("max", "most"),
];

/// Returns the histogram and the plot of percentiles, or a table of percentiles for results that have none. The lengths of streams are by design, and have
/// no plot.
pub fn distribution(value: &Value) -> Markup {
    if has_streams(value) {
        return html! {};
    }
    let counts = text(value, "latency_histogram").and_then(Counts::parse);
    let bars = counts.as_ref().and_then(histogram);
    let drawn = counts.and_then(|counts| plot(&[("response time".into(), counts)]));
    let known: Vec<_> = PERCENTILES
        .into_iter()
        .filter_map(|(field, name)| Some((name, number(value, &format!("latency_us.{field}"))?)))
        .collect();
    if drawn.is_none() && known.is_empty() {
        return html! {};
    }
    html! {
        section {
            h2 { "Distribution" }
            @if let Some(bars) = bars { (bars) }
            @if let Some(drawn) = drawn { (drawn) } @else {
                div.wide tabindex="0" role="group" aria-label="Percentiles" {
                    table {
                        thead { tr { @for (name, _) in &known { th scope="col" { (name) } } } }
                        tbody { tr { @for (_, time) in &known { td { (micros(*time)) } } } }
                    }
                }
            }
        }
    }
}
