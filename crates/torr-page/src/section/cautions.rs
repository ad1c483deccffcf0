//! What makes the figures of a run doubtful, and the checks that it had.

use crate::fields::{flag, list, number, text};
use maud::{Markup, html};
use serde_json::Value;
use torr_report::human::count;

/// Returns findings of the run's validity that are bad, and the checks.
pub fn cautions(value: &Value) -> Markup {
    let findings = list(value, "validity.findings").iter().filter(|finding| !flag(finding, "ok"));
    let checks = list(value, "checks");
    html! {
        @for finding in findings {
            p.caution {
                (text(finding, "note").or(text(finding, "what")).unwrap_or_default())
                @if let Some(advice) = text(finding, "advice") { "; " (advice) }
            }
        }
        @if !checks.is_empty() {
            h2 { "Checks" }
            table {
                thead { tr { th { "check" } th { "passed" } th { "failed" } } }
                tbody {
                    @for check in checks {
                        tr {
                            td.words { (text(check, "name").unwrap_or_default()) }
                            @for field in ["passed", "failed"] {
                                td { (count(number(check, field).unwrap_or(0.0) as u64)) }
                            }
                        }
                    }
                }
            }
        }
    }
}
