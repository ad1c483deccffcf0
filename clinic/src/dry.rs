//! Presses a subject without judging it: is it up, and ill in the way it says?

use crate::environment::{Environment, Process};
use crate::error::Error;
use crate::subject::Subject;
use serde_json::Value;
use std::fs;
use std::time::Duration;

/// What a short run and one connection by itself have shown, in a line.
///
/// # Errors
/// If the subject cannot be pressed.
pub fn press(environment: &Environment, subject: &Subject, url: &str) -> Result<String, Error> {
    // First, for what a full run leaves unanswered is still waited for when it has ended; and short, for the ports' sake.
    let alone = [&without_connections(subject.arguments)[..], &["-c", "1", "-n", "50", "-d", "500ms"]].concat();
    let alone = run(environment, &alone, url)?;
    let full = run(environment, &[subject.arguments, &["-d", "2s"]].concat(), url)?;
    let number = |result: &Value, at: &str| result.pointer(at).and_then(Value::as_f64).unwrap_or(f64::NAN);
    let rate = number(&full, "/rps");
    let base = number(&alone, "/latency_us/p50");
    let base = if base.is_nan() { number(&alone, "/latency_us/mean") } else { base };
    let verdict = |part: &str| full["verdict"][part].as_str().unwrap_or("-").to_owned();
    Ok(format!(
        "{rate:>8.0}/s  p50 {:>8.2} ms  R0 {:>7.2} ms  K {:>6.1}  not 200 {:>6}  failed {:>6}  per connection {:>8.1}  {} ({})",
        number(&full, "/latency_us/p50") / 1e3,
        base / 1e3,
        rate * base / 1e6,
        sum(&full["status"], |code| code != "200"),
        sum(&full["errors"], |_| true),
        number(&full, "/connections/requests_per_connection"),
        verdict("factor"),
        verdict("confidence"),
    ))
}

/// The sum of some of an object's numbers.
fn sum(of: &Value, counts: impl Fn(&str) -> bool) -> u64 {
    let members = of.as_object().into_iter().flatten();
    members.filter(|(name, _)| counts(name)).filter_map(|(_, value)| value.as_u64()).sum()
}

/// The doctor's arguments but for how many connections.
fn without_connections(arguments: &[&'static str]) -> Vec<&'static str> {
    match arguments.iter().position(|argument| *argument == "-c") {
        Some(at) => [&arguments[..at], &arguments[at + 2..]].concat(),
        None => arguments.to_vec(),
    }
}

fn run(environment: &Environment, arguments: &[&str], url: &str) -> Result<Value, Error> {
    let file = environment.folder().join("dry.json");
    let mut command = environment.generator.command(environment.torr());
    command.args(arguments).args(["-q", "--json"]).arg(&file).arg(url);
    let ended = Process::start("press", &mut command, environment.folder())?.end(Duration::from_secs(30))?;
    let written = fs::read_to_string(&file).map_err(|_| Error::failed(ended.last_line))?;
    serde_json::from_str(&written).map_err(Error::at("torr's result"))
}
