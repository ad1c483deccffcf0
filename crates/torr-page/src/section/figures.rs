//! The few figures of a run that count.

use crate::fields::{flag, number};
use maud::{Markup, html};
use serde_json::Value;
use torr_report::human::{count, micros, percent, rate};

/// The kinds of errors without a complete response.
const KINDS: [&str; 7] = ["connect", "tls", "timeout", "read", "write", "protocol", "ports"];

/// The kinds of errors whose responses are complete.
const OF_RESPONSES: [&str; 2] = ["status", "redirect"];

/// Returns the figures of a run.
pub fn run(value: &Value) -> Markup {
    let time = |path| number(value, path).map(micros);
    let failed = failures(value);
    let sessions_failed = number(value, "sessions.failed").filter(|&failed| failed > 0.0).map(|failed| {
        let started = number(value, "sessions.started").unwrap_or(failed).max(1.0);
        format!("{} ({})", count(failed as u64), percent(failed / started))
    });
    let errors = match failed {
        0.0 if sessions_failed.is_some() => "none of the requests".to_owned(),
        0.0 => "none".to_owned(),
        failed if failed / requested(value) < 0.0005 => count(failed as u64),
        failed => format!("{} ({})", count(failed as u64), percent(failed / requested(value))),
    };
    let figures = [
        ("requests/s", number(value, "rps").map(rate)),
        ("responses", number(value, "requests").map(|requests| count(requests as u64))),
        ("median", time("latency_us.p50")),
        ("99th percentile", time("latency_us.p99")),
        ("slowest", time("latency_us.max")),
        ("errors", Some(errors)),
        ("sessions failed", sessions_failed),
        ("CPU of the server", number(value, "host.server_cores").map(|cores| format!("{cores:.2}"))),
        // Agents of a fleet that were all lost have reported none.
        ("CPU per request, generator", number(value, "generator.cpu_us_per_request").map(micros)),
    ];
    html! {
        (shown(figures))
        @if flag(value, "generator.saturated") {
            p.caution { "The generator was saturated: the service may handle more than these figures show." }
        }
    }
}

/// Returns figures, of which those without a value are left out.
pub fn shown<const N: usize>(figures: [(&str, Option<String>); N]) -> Markup {
    html! {
        dl.figures {
            @for (name, figure) in figures {
                @if let Some(figure) = figure { div { dt { (name) } dd { (figure) } } }
            }
        }
    }
}

/// Returns the number of errors of a run: requests without a complete response, and responses that are errors.
pub fn failures(value: &Value) -> f64 {
    KINDS.into_iter().chain(OF_RESPONSES).filter_map(|kind| number(value, &format!("errors.{kind}"))).sum()
}

fn requested(value: &Value) -> f64 {
    let without_response: f64 = KINDS.into_iter().filter_map(|kind| number(value, &format!("errors.{kind}"))).sum();
    (number(value, "requests").unwrap_or(0.0) + without_response).max(1.0)
}
