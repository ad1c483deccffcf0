//! The few figures of a run that count.

use crate::fields::{flag, has_streams, list, number, text, texts};
use maud::{Markup, html};
use serde_json::Value;
use torr_report::human::{count, micros, percent, plural, rate};

/// The kinds of errors without a complete response.
const KINDS: [&str; 8] = ["connect", "tls", "timeout", "read", "write", "protocol", "ports", "abandoned"];

/// The kinds of errors whose responses are complete.
const OF_RESPONSES: [&str; 2] = ["status", "redirect"];

/// The number of large figures.
const LARGE: usize = 6;

/// Returns the figures of a run.
pub fn run(value: &Value) -> Markup {
    let time = |path| number(value, path).map(micros);
    let failed = failures(value);
    let sessions_failed = number(value, "sessions.failed").filter(|&failed| failed > 0.0).map(|failed| {
        let started = number(value, "sessions.started").unwrap_or(failed).max(1.0);
        format!("{} ({})", count(failed as u64), percent(failed / started))
    });
    let errors = match failed {
        0.0 => "none".to_owned(),
        failed if failed / requested(value) < 0.0005 => count(failed as u64),
        failed => format!("{} ({})", count(failed as u64), percent(failed / requested(value))),
    };
    let streams = has_streams(value);
    let of_responses = |figure: Option<String>| figure.filter(|_| !streams);
    let figures = [
        ("tokens/s", number(value, "streams.tokens.tokens_per_s").map(rate)),
        ("time per token", time("streams.tokens.per_token_us")),
        ("median time to the first token", time("streams.tokens.first_token_us.p50")),
        ("events/s", number(value, "streams.events_per_s").map(rate)),
        ("median time to the first event", time("streams.first_event_us.p50")),
        ("99th percentile of gaps", time("streams.gap_us.p99")),
        ("longest silence", time("streams.longest_silence_us")),
        ("requests/s", of_responses(number(value, "rps").map(rate))),
        ("responses", number(value, "requests").map(|requests| count(requests as u64))),
        ("median", of_responses(time("latency_us.p50"))),
        ("99th percentile", of_responses(time("latency_us.p99"))),
        (if sessions_failed.is_some() { "errors of requests" } else { "errors" }, Some(errors)),
        ("sessions failed", sessions_failed),
        ("slowest", of_responses(time("latency_us.max"))),
        ("used by the server", number(value, "host.server_cores").map(|cores| format!("{cores:.2} CPUs"))),
        // Agents of a fleet that were all lost have reported none.
        ("CPU per event, generator", number(value, "streams.cpu_us_per_event").map(micros)),
        ("CPU per request, generator", of_responses(number(value, "generator.cpu_us_per_request").map(micros))),
    ];
    html! {
        (shown(figures))
        (left_out(value))
        @if flag(value, "generator.saturated") {
            p.caution { "The generator was saturated: the service may handle more than these figures show." }
        }
    }
}

/// Returns figures, of which those without a value are left out. The first ones are large, in one row.
pub fn shown<const N: usize>(figures: [(&str, Option<String>); N]) -> Markup {
    let known: Vec<_> = figures.into_iter().filter_map(|(name, figure)| Some((name, figure?))).collect();
    let (large, more) = known.split_at(known.len().min(LARGE));
    let row = |class, figures: &[(&str, String)]| {
        html! { dl class=(class) { @for (name, figure) in figures { div { dt { (name) } dd { (figure) } } } } }
    };
    html! {
        (row("figures", large))
        @if !more.is_empty() { (row("figures more", more)) }
    }
}

/// Returns a line about what the figures do not contain; nothing where they contain all.
fn left_out(value: &Value) -> Markup {
    let counted = |path, words: &str| {
        let requests = number(value, path).filter(|requests| *requests > 0.0)?;
        Some(format!("{} {words}", plural(requests as u64, "request")))
    };
    let samples = list(value, "validity.findings").iter().find(|finding| text(finding, "what") == Some("samples"));
    let percentiles: Vec<_> = samples.iter().flat_map(|finding| texts(finding, "fact.left_out")).collect();
    let percentiles =
        (!percentiles.is_empty()).then(|| format!("{}, for which there are too few samples", percentiles.join(", ")));
    let parts = [
        counted("warmup.requests", "of the warm-up"),
        counted("unfinished", "in flight when the run ended"),
        percentiles,
    ];
    let parts: Vec<_> = parts.into_iter().flatten().collect();
    html! { @if !parts.is_empty() { p.sub { "Left out: " (parts.join("; ")) "." } } }
}

/// Returns the number of errors of a run: requests without a complete response, and responses that are errors.
pub fn failures(value: &Value) -> f64 {
    KINDS.into_iter().chain(OF_RESPONSES).filter_map(|kind| number(value, &format!("errors.{kind}"))).sum()
}

fn requested(value: &Value) -> f64 {
    (number(value, "requests").unwrap_or(0.0) + without_response(value)).max(1.0)
}

/// Returns the number of requests that failed without a complete response.
pub fn without_response(value: &Value) -> f64 {
    KINDS.into_iter().filter_map(|kind| number(value, &format!("errors.{kind}"))).sum()
}
