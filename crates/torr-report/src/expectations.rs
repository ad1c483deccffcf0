//! Checks and thresholds: a section of the report, and one line for each that failed.

use crate::entries;
use crate::human::{count, micros};
use crate::style::{BAD, GOOD, paint};
use crate::table::align;
use torr_gauge::result::{Check, Threshold};
use torr_gauge::threshold::measured_us;
use torr_gauge::{FailureKind, RunResult};

/// Returns the section of the report; empty without checks and thresholds.
pub fn section(run: &RunResult) -> String {
    let checks = run.checks.iter().map(|check| {
        let passed = format!("{} passed", count(check.passed));
        match check.failed {
            0 => ["check", &check.name, &passed, &paint(GOOD, "ok")].map(str::to_owned),
            n => ["check", &check.name, &passed, &paint(BAD, format!("{} failed", count(n)))].map(str::to_owned),
        }
    });
    let thresholds = run.thresholds.iter().map(|threshold| {
        let judged = if threshold.failed { paint(BAD, "failed") } else { paint(GOOD, "ok") };
        let measured = threshold.measured.as_deref().map_or_else(|| TOO_FEW_SAMPLES.to_owned(), shown);
        ["fails if", &threshold.rule, &measured, &judged].map(str::to_owned)
    });
    let rows: Vec<Vec<String>> = checks
        .chain(thresholds)
        .map(|[what, name, measured, judged]| vec![format!("{what:<12} {name}"), measured, judged])
        .collect();
    align(&rows).lines().map(|line| format!("  {line}\n")).collect()
}

/// The limit of lines on entries that failed.
const MOST_ENTRIES: usize = 10;

/// Returns a line for a run without a response, for redirects that were not followed, for each check, each entry and each
/// threshold that failed.
pub fn failures(run: &RunResult) -> Vec<String> {
    let checks = run.checks.iter().filter(|check| check.failed > 0);
    let checks = checks.map(|check| format!("check failed: {}: {}", check.name, check_failure(check)));
    let thresholds = run.thresholds.iter().filter(|threshold| threshold.failed);
    let thresholds =
        thresholds.map(|threshold| format!("threshold failed: {}: {}", threshold.rule, threshold_failure(threshold)));
    unanswered(run)
        .into_iter()
        .chain(failed_redirects(run))
        .chain(checks)
        .chain(entry_failures(run))
        .chain(thresholds)
        .collect()
}

/// Returns a line on a run that began requests and received no response, with what became of them. A run that was interrupted has
/// none: its user did not wait for the responses.
pub fn unanswered(run: &RunResult) -> Option<String> {
    if run.interrupted || run.started == 0 || run.completed() > 0 || run.has_responses() || run.redirects_followed > 0 {
        return None;
    }
    let worst = run.causes.first().map(|cause| format!("{} x {}: {}", count(cause.count), cause.kind, cause.what));
    let unfinished = (run.unfinished > 0).then(|| format!("{} unfinished when the run ended", count(run.unfinished)));
    let ends: Vec<_> = worst.into_iter().chain(unfinished).collect();
    Some(format!("no request got a response: {}", ends.join(", ")))
}

/// The limit of reasons that the line on redirects names.
const MOST_REASONS: usize = 3;

/// Returns a line on the redirects that should have been followed and were not, with the most frequent reasons.
pub fn failed_redirects(run: &RunResult) -> Option<String> {
    let failed = run.errors.redirect;
    let reasons = run.causes.iter().filter(|cause| cause.kind == FailureKind::Redirect);
    let reasons: Vec<_> = reasons.map(|cause| format!("{} x {}", count(cause.count), cause.what)).collect();
    let more = reasons.len().saturating_sub(MOST_REASONS);
    let named = reasons.into_iter().take(MOST_REASONS);
    let named: Vec<_> = named.chain((more > 0).then(|| format!("{more} more reasons"))).collect();
    let were = if failed == 1 { "redirect was" } else { "redirects were" };
    (failed > 0).then(|| format!("{} {were} not followed: {}", count(failed), named.join(", ")))
}

/// Returns a line for each entry of a session that failed, up to a limit.
fn entry_failures(run: &RunResult) -> Vec<String> {
    let titles = entries::titles(&run.entries);
    let failed = run.entries.iter().zip(titles);
    let failed =
        failed.filter_map(|(entry, title)| Some(format!("entry failed: {title}: {}", entries::failure(entry)?)));
    let mut lines: Vec<_> = failed.collect();
    if lines.is_empty() {
        lines.extend(no_session_finished(run));
    }
    if lines.len() > MOST_ENTRIES {
        let more = lines.split_off(MOST_ENTRIES).len();
        lines.push(format!("{more} more entries failed"));
    }
    lines
}

/// Returns a line on a run in which sessions failed and none finished, and where most ended: whatever its requests were, such
/// a run is no success.
fn no_session_finished(run: &RunResult) -> Option<String> {
    let sessions = run.sessions.as_ref().filter(|sessions| sessions.finished == 0 && sessions.failed > 0)?;
    let worst = run.entries.iter().zip(entries::titles(&run.entries)).max_by_key(|(entry, _)| entry.sessions_failed);
    let position = worst.map_or(String::new(), |(entry, title)| format!(": {title}: {}", entries::ended_here(entry)));
    Some(format!("no session finished, {} failed{position}", count(sessions.failed)))
}

const TOO_FEW_SAMPLES: &str = "too few samples to tell";

/// Returns why a check failed.
pub fn check_failure(check: &Check) -> String {
    let all = check.passed + check.failed;
    let responses = if all == 1 { "response" } else { "responses" };
    format!("failed in {} of {} {responses}", count(check.failed), count(all))
}

/// Returns why a threshold failed.
pub fn threshold_failure(threshold: &Threshold) -> String {
    let measured = threshold.measured.as_deref();
    measured.map_or_else(|| TOO_FEW_SAMPLES.to_owned(), |measured| format!("measured {}", shown(measured)))
}

/// Returns a measured figure with its unit and what follows it, times as they stand elsewhere in reports.
fn shown(measured: &str) -> String {
    let (figure, rest) = measured.split_at(measured.find(',').unwrap_or(measured.len()));
    measured_us(figure).map_or_else(|| measured.to_owned(), |us| micros(us) + rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_measured_time_has_the_digits_and_the_unit_of_other_times() {
        let measured = |text: &str| {
            threshold_failure(&Threshold { rule: String::new(), measured: Some(text.into()), failed: true })
        };
        assert_eq!(
            ["28223us", "338.175ms, so it ended", "0.5m", "12.5%, so it ended", "100"].map(measured),
            [
                "measured 28.2 ms",
                "measured 338 ms, so it ended",
                "measured 30.0 s",
                "measured 12.5%, so it ended",
                "measured 100"
            ]
        );
    }
}
