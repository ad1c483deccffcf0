//! Presses a subject without diagnosing it: is it up, and does it have the fault of its label?

use crate::environment::Environment;
use crate::run;
use torr_gauge::latency::Summary;
use torr_test_support::error::Error;

/// Returns the figures of a short run and of a single connection, in a line.
///
/// # Errors
/// If the subject cannot be pressed.
pub fn press(environment: &Environment, arguments: &[&str], url: &str) -> Result<String, Error> {
    // First, since the service still works on what a full run leaves unanswered; and short, since ports are scarce.
    let alone = [&without_connections(arguments)[..], &["-c", "1", "-n", "50", "-d", "500ms"]].concat();
    let alone = run::plain(environment, &alone, url)?;
    let full = run::plain(environment, &[arguments, &["-d", "2s"]].concat(), url)?;
    let median_ms = |latency: Option<Summary>| {
        latency.map_or(f64::NAN, |latency| latency.p50.map_or(latency.mean, |median| median as f64) / 1e3)
    };
    let base = median_ms(alone.latency_us);
    let not_200: u64 = full.status.iter().filter(|(status, _)| **status != 200).map(|(_, count)| count).sum();
    let verdict = full.verdict.map_or("-".into(), |verdict| format!("{} ({})", verdict.factor, verdict.confidence));
    Ok(format!(
        "{:>8.0}/s  p50 {:>8.2} ms  R0 {base:>7.2} ms  K {:>6.1}  not 200 {not_200:>6}  failed {:>6}  per connection {:>8.1}  {verdict}",
        full.rps,
        median_ms(full.latency_us),
        full.rps * base / 1e3,
        full.errors.total(),
        full.connections.requests_per_connection,
    ))
}

/// Returns the arguments without the number of connections.
fn without_connections<'a>(arguments: &[&'a str]) -> Vec<&'a str> {
    match arguments.iter().position(|argument| *argument == "-c") {
        Some(at) => [&arguments[..at], &arguments[at + 2..]].concat(),
        None => arguments.to_vec(),
    }
}
