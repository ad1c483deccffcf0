//! The thresholds that a run had: above all else where one failed.

use crate::fields::{flag, list, text};
use maud::{Markup, html};
use serde_json::Value;
use torr_report::human::plural;

/// Returns the thresholds where one failed, as the first thing to read; nothing where all were kept.
pub fn failed(value: &Value) -> Markup {
    let thresholds = list(value, "thresholds");
    let failed: Vec<_> = thresholds.iter().filter(|threshold| flag(threshold, "failed")).collect();
    let words = |threshold: &&Value| {
        let rule = text(threshold, "rule").unwrap_or_default();
        format!("{rule} (measured {})", text(threshold, "measured").unwrap_or("unknown"))
    };
    html! {
        @if !failed.is_empty() {
            section.failed {
                p.sentence {
                    (failed.len()) " of " (plural(thresholds.len() as u64, "threshold")) " failed: "
                    (failed.iter().map(words).collect::<Vec<_>>().join(", "))
                }
                @if thresholds.len() > failed.len() { (table(thresholds)) }
            }
        }
    }
}

/// Returns the thresholds where all were kept; nothing where one failed.
pub fn kept(value: &Value) -> Markup {
    let thresholds = list(value, "thresholds");
    html! {
        @if !thresholds.is_empty() && !thresholds.iter().any(|threshold| flag(threshold, "failed")) {
            h2 { "Thresholds" }
            (table(thresholds))
        }
    }
}

fn table(thresholds: &[Value]) -> Markup {
    html! {
        table {
            thead { tr { th { "fails if" } th { "measured" } th { "outcome" } } }
            tbody {
                @for threshold in thresholds {
                    tr {
                        td.words { (text(threshold, "rule").unwrap_or_default()) }
                        td { (text(threshold, "measured").unwrap_or("unknown")) }
                        (outcome(flag(threshold, "failed")))
                    }
                }
            }
        }
    }
}

/// Returns a cell that says whether something failed.
pub fn outcome(failed: bool) -> Markup {
    html! { @if failed { td.bad { "failed" } } @else { td.good { "kept" } } }
}
