//! What failed: the statuses, the causes, and the first response with an error status.

use super::figures::failures;
use crate::fields::{field, list, number, text};
use maud::{Markup, html};
use serde_json::Value;
use torr_report::human::{count, printable};

/// Returns the section; nothing for a run without errors.
pub fn errors(value: &Value) -> Markup {
    if failures(value) == 0.0 {
        return html! {};
    }
    let whole = |value: &Value, path: &str| count(number(value, path).unwrap_or(0.0) as u64);
    let causes = list(value, "causes");
    html! {
        section {
            h2 { "Errors" }
            @if let Some(status) = field(value, "status").and_then(Value::as_object) {
                table {
                    thead { tr { th { "status" } th { "responses" } } }
                    tbody {
                        @for (status, responses) in status {
                            tr { td { (status) } td { (count(responses.as_u64().unwrap_or(0))) } }
                        }
                    }
                }
            }
            @if let Some(calls) = field(value, "grpc").and_then(Value::as_object) {
                table {
                    thead { tr { th { "gRPC status" } th { "calls" } } }
                    tbody {
                        @for (status, calls) in calls {
                            tr { td { (printable(status)) } td { (count(calls.as_u64().unwrap_or(0))) } }
                        }
                    }
                }
            }
            @if !causes.is_empty() {
                table {
                    thead { tr { th { "cause" } th { "kind" } th { "side" } th { "count" } } }
                    tbody {
                        @for cause in causes {
                            tr {
                                td.words { (printable(text(cause, "what").unwrap_or_default())) }
                                td { (text(cause, "kind").unwrap_or_default()) }
                                td { (text(cause, "side").unwrap_or_default()) }
                                td { (whole(cause, "count")) }
                            }
                        }
                    }
                }
            }
            @if let Some(sample) = field(value, "failed_response") {
                details {
                    summary { "The first response with an error status" }
                    pre {
                        (printable(text(sample, "status_line").unwrap_or_default())) "\n"
                        @for field in list(sample, "fields") {
                            (printable(text(field, "name").unwrap_or_default())) ": "
                            (printable(text(field, "value").unwrap_or_default())) "\n"
                        }
                        "\n" (printable(text(sample, "content").unwrap_or_default()))
                    }
                }
            }
        }
    }
}
