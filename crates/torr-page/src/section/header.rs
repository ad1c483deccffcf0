//! The head of a result: what was loaded, how and when.

use super::before::before;
use super::moment::moment;
use crate::document::{Document, Kind};
use crate::fields::{field, flag, list, number, text};
use maud::{Markup, html};
use serde_json::Value;
use torr_report::human::{micros, plural, rate};
use torr_report::transport::newer_version;

/// Returns the target and the load in a line.
pub fn header(document: &Document) -> Markup {
    let value = &document.value;
    let load = match document.kind {
        Kind::Run => load(value),
        Kind::Doctor => format!("a diagnosis by experiments, {}", seconds(value, "seconds")),
        Kind::Limit => format!("a search for the highest sustained rate, {}", seconds(value, "spent_s")),
        Kind::Versions => format!("a comparison of two versions, {}", seconds(value, "seconds")),
        Kind::Lab => suite(value),
        Kind::History => over_time(value),
        Kind::Demo => "the demo application, with a verdict on its page".into(),
    };
    html! {
        header {
            h1 { (document.subject()) }
            p.sub {
                (load)
                @if let Some(at) = started_at(value).filter(|at| !at.is_empty()) { " · " (moment(at)) }
                @if flag(value, "interrupted") { " · " strong { "interrupted" } }
            }
            @if let Some(run) = &document.before { (before(run)) }
        }
    }
}

/// Returns when a result began; that of a diagnosis is when its first experiment did.
fn started_at(value: &Value) -> Option<&str> {
    let own = text(value, "started_at").or_else(|| text(value, "header.started_at"));
    own.or_else(|| text(list(value, "trail").first()?, "run.started_at"))
}

/// Returns how many runs a history has, and from when on.
fn over_time(value: &Value) -> String {
    let runs = plural(number(value, "runs").unwrap_or(0.0) as u64, "run");
    let day = |build: Option<&Value>| build.and_then(|build| text(build, "started_at")?.get(..10)).map(str::to_owned);
    let builds = list(value, "builds");
    match (day(builds.first()), day(builds.last())) {
        (Some(first), Some(last)) => format!("a history of {runs}, {first} to {last}"),
        _ => format!("a history of {runs}"),
    }
}

/// Returns how the figures of a suite came about.
fn suite(value: &Value) -> String {
    let rounds = match number(value, "header.rounds") {
        Some(rounds) if rounds > 1.0 => format!("medians of {rounds} runs in turns"),
        _ => "one run each".to_owned(),
    };
    let scale = number(value, "header.scale").filter(|scale| *scale != 1.0);
    let scale = scale.map_or_else(String::new, |scale| format!(", {scale} of the suite's time"));
    let kernel = text(value, "header.machine.kernel").map_or_else(String::new, |kernel| format!(", {kernel}"));
    format!("{rounds}{scale}{kernel}")
}

/// Returns the load of a run in words.
pub fn load(value: &Value) -> String {
    let mut parts = Vec::new();
    if let Some(method) = text(value, "plan.method") {
        parts.push(method.to_owned());
    }
    let unit = if field(value, "sessions").is_some() { "sessions" } else { "requests" };
    match (number(value, "plan.rate"), number(value, "plan.max_rate")) {
        (Some(per_s), _) => parts.push(format!("open loop, {} {unit}/s due", rate(per_s))),
        (None, Some(per_s)) => parts.push(format!("at most {} {unit}/s", rate(per_s))),
        (None, None) if flag(value, "plan.staged") && text(value, "plan.arrivals").is_some() => {
            parts.push("open loop, rates in stages".into());
        }
        (None, None) => {}
    }
    match (number(value, "sessions.users"), number(value, "plan.connections")) {
        (Some(users), _) => parts.push(several(users, "user")),
        (None, Some(connections)) => parts.push(several(connections, "connection")),
        (None, None) => {}
    }
    if let Some(protocol) = text(value, "plan.protocol") {
        parts.push(version(protocol).to_owned());
    }
    if value.pointer("/plan/keep_alive") == Some(&Value::Bool(false)) {
        parts.push("a connection for each request".into());
    }
    parts.push(seconds(value, "duration_s"));
    parts.join(", ")
}

/// Returns the name of a protocol as its standard writes it.
fn version(protocol: &str) -> &str {
    match protocol {
        "http/1.1" => "HTTP/1.1",
        "websocket" => "WebSocket",
        "grpc" => "gRPC",
        other => newer_version(other).unwrap_or(other),
    }
}

fn several(number: f64, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1.0 { "" } else { "s" })
}

fn seconds(value: &Value, path: &str) -> String {
    number(value, path).map_or_else(String::new, |seconds| micros(seconds * 1e6))
}
