//! The flags of the command line that makes the load of a run again.

use crate::fields::{field, flag, list, number, text};
use serde_json::Value;

/// The length of windows that an open loop with constant arrivals has without a flag, in seconds.
const COALESCE_S: f64 = 150e-6;
/// The time after which a request has failed without a flag, in seconds.
const TIMEOUT_S: f64 = 10.0;

/// Returns why no command line can be written from a run's plan; `None` where one can.
pub fn missing(run: &Value) -> Option<&'static str> {
    let changed = |event: &Value| !matches!(text(event, "what"), Some("mark" | "end") | None);
    let sessions = of_sessions(run);
    if sessions.is_some() {
        sessions
    } else if flag(run, "plan.staged") && list(run, "steering").iter().any(changed) {
        Some("an operator changed the load, and the result does not contain the plan")
    } else if flag(run, "plan.staged") {
        Some("the result does not contain the stages of the load")
    } else {
        None
    }
}

/// Returns that a run was one of sessions, if it was.
pub fn of_sessions(run: &Value) -> Option<&'static str> {
    field(run, "sessions").map(|_| "the result does not contain the files of the sessions")
}

/// Returns the words behind the target.
pub fn of(run: &Value) -> Vec<String> {
    let mut words = Vec::new();
    let mut add =
        |flag: &str, value: Option<String>| words.extend(value.into_iter().flat_map(|value| [flag.into(), value]));
    let plain = |path| number(run, path).map(|figure| figure.to_string());
    let time = |path| number(run, path).map(seconds);
    add("-c", plain("plan.connections"));
    add("-t", plain("plan.threads"));
    add("-r", plain("plan.rate"));
    add("--max-rate", plain("plan.max_rate"));
    add("-n", plain("plan.requests"));
    add("-d", time("plan.duration_s"));
    add("--warmup", time("plan.warmup_s"));
    add("--timeout", number(run, "plan.timeout_s").filter(|timeout| *timeout != TIMEOUT_S).map(seconds));
    add("--think", think(run));
    match text(run, "plan.arrivals") {
        Some("constant") => add("--coalesce", coalesce(number(run, "plan.coalesce_s").unwrap_or(0.0))),
        Some(other) => add("--arrivals", Some(other.to_owned())),
        None => {}
    }
    add("--patience", time("plan.patience_s"));
    let depth = number(run, "plan.depth").filter(|depth| *depth > 1.0).map(|depth| depth.to_string());
    let is_http2 = text(run, "plan.protocol") == Some("h2");
    let is_http3 = text(run, "plan.protocol") == Some("h3");
    let is_grpc = text(run, "plan.protocol") == Some("grpc");
    add(if is_http2 || is_http3 || is_grpc { "--streams" } else { "--pipeline" }, depth);
    add("--requests-per-connection", plain("plan.requests_per_connection"));
    let method = text(run, "plan.method").filter(|method| *method != "GET" && !method.contains(',') && !is_grpc);
    add("-X", method.map(str::to_owned));
    if is_http2 {
        let is_secure = text(run, "target").is_some_and(|target| target.starts_with("https:"));
        words.push(if is_secure { "--http2" } else { "--http2-prior-knowledge" }.into());
    }
    if is_http3 {
        words.push("--http3".into());
    }
    if field(run, "plan.keep_alive") == Some(&Value::Bool(false)) {
        words.push("--no-keepalive".into());
    }
    words
}

/// Returns the time to think as one duration, or as a range.
fn think(run: &Value) -> Option<String> {
    match list(run, "plan.think_s") {
        [least, most] => {
            let (least, most) = (seconds(least.as_f64()?), seconds(most.as_f64()?));
            Some(if least == most { least } else { format!("{least}..{most}") })
        }
        _ => None,
    }
}

/// Returns the length of the windows of an open loop, unless it is the usual one.
fn coalesce(window_s: f64) -> Option<String> {
    if (window_s - COALESCE_S).abs() < 1e-10 {
        return None;
    }
    Some(match (window_s * 1e9).round() as u64 {
        0 => "0".into(),
        ns if ns % 1000 == 0 => format!("{}us", ns / 1000),
        ns => format!("{ns}ns"),
    })
}

/// Returns a duration as the command line takes it: a fraction of a second has no unit there.
fn seconds(seconds: f64) -> String {
    if seconds.fract() == 0.0 { format!("{seconds}s") } else { seconds.to_string() }
}
