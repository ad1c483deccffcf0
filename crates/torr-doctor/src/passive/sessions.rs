//! Sessions that end early: the throughput of such a run says little of the service.

use super::seen::likely;
use crate::thresholds::MANY_FAILED;
use std::cmp::Reverse;
use torr_gauge::sessions::EntryResult;
use torr_gauge::verdict::{Advice, Fact, Finding, Headline};
use torr_gauge::{Factor, RunResult};

/// The number of entries that the verdict names.
const NAMED: usize = 3;

/// Returns whether too many sessions ended early for the throughput to mean much.
pub fn too_many_failed(run: &RunResult) -> bool {
    run.sessions.as_ref().is_some_and(|sessions| sessions.failed as f64 > MANY_FAILED * sessions.started as f64)
}

/// Too many sessions ended early.
pub fn rule(run: &RunResult) -> Option<Finding> {
    let sessions = run.sessions.as_ref().filter(|_| too_many_failed(run))?;
    let mut entries: Vec<&EntryResult> = run.entries.iter().filter(|entry| entry.sessions_failed > 0).collect();
    entries.sort_by_key(|entry| Reverse(entry.sessions_failed));
    let ended = |entry: &&EntryResult| Fact::SessionsEnded {
        sessions: entry.sessions_failed,
        entry: entry.name.clone(),
        file: entry.file.clone(),
        line: entry.line,
    };
    let file = entries.first().map_or("FILE", |entry| entry.file.as_str()).to_owned();
    Some(
        likely(Factor::Errors, Headline::SessionsFailed)
            .because(Fact::SessionsFailed { failed: sessions.failed, started: sessions.started })
            .because(entries.iter().take(NAMED).map(ended))
            .advice(Advice::LookAtSession { file }),
    )
}
