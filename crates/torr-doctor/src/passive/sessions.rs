//! Sessions that end early: the throughput of such a run says little of the service.

use crate::thresholds::MANY_FAILED;
use crate::words::{counted, percent};
use std::cmp::Reverse;
use torr_gauge::sessions::EntryResult;
use torr_gauge::{Confidence, Factor, RunResult, Verdict};

/// The number of entries that the verdict names.
const NAMED: usize = 3;

/// Returns whether too many sessions ended early for the throughput to mean much.
pub fn too_many_failed(run: &RunResult) -> bool {
    run.sessions.as_ref().is_some_and(|sessions| sessions.failed as f64 > MANY_FAILED * sessions.started as f64)
}

/// Too many sessions ended early.
pub fn rule(run: &RunResult) -> Option<Verdict> {
    let sessions = run.sessions.as_ref().filter(|_| too_many_failed(run))?;
    let share = sessions.failed as f64 / sessions.started.max(1) as f64;
    let mut entries: Vec<&EntryResult> = run.entries.iter().filter(|entry| entry.sessions_failed > 0).collect();
    entries.sort_by_key(|entry| Reverse(entry.sessions_failed));
    let summary = "Too many sessions ended early for the throughput to mean much.";
    let mut verdict = Verdict::new(Factor::Errors, Confidence::Likely, summary).because(format!(
        "{} of {} failed ({})",
        sessions.failed,
        counted(sessions.started as usize, "session"),
        percent(share)
    ));
    for entry in entries.iter().take(NAMED) {
        verdict = verdict.because(format!(
            "{} ended at '{}' ({}:{})",
            counted(entry.sessions_failed as usize, "session"),
            entry.name,
            entry.file,
            entry.line
        ));
    }
    let file = entries.first().map_or("FILE", |entry| entry.file.as_str());
    Some(verdict.advice(format!("look at one session: 'torr once {file}' with the same variables shows what it gets")))
}
