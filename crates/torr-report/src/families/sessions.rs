//! The metrics of sessions and their entries.

use super::family::{Family, Labels, counters, gauge, histograms};
use crate::entries;
use std::borrow::Cow;
use std::collections::BTreeMap;
use torr_gauge::collector::Measurement;
use torr_gauge::sessions::{EntryResult, SessionCounts};

/// Returns the metrics of a run with sessions, none of another.
pub(super) fn families(run: &Measurement) -> Vec<Family<'_>> {
    let (Some(counts), Some(summary)) = (&run.sessions, &run.result.sessions) else { return Vec::new() };
    let outcomes = [("finished", summary.finished), ("failed", summary.failed), ("unfinished", summary.unfinished)];
    let mut families = vec![
        counters(
            "torr_sessions_total",
            "Sessions of virtual users by outcome.",
            outcomes.map(|(outcome, n)| (vec![("outcome", outcome.to_owned())], n)),
        ),
        histograms(
            "torr_session_duration_seconds",
            "Time from when a session was due to its end, of finished sessions.",
            [(Vec::new(), Cow::Borrowed(&counts.durations))],
        ),
        gauge("torr_sessions_per_second", "Finished sessions per second over the whole run.", summary.per_second),
    ];
    families.extend(entry_families(&run.result.entries, counts));
    families
}

fn entry_families<'r>(results: &[EntryResult], counts: &'r SessionCounts) -> Vec<Family<'r>> {
    let titles = entries::titles(results);
    let all = || results.iter().zip(titles.iter().map(|title| ("entry", title.clone())));
    let count = |name: &'static str, help: &'static str, of: fn(&EntryResult) -> u64| {
        counters(name, help, all().map(|(entry, label)| (vec![label], of(entry))))
    };
    let by_status = all().flat_map(|(entry, label)| {
        entry.status.iter().map(move |(status, &n)| (vec![label.clone(), ("status", status.to_string())], n))
    });
    // Two asserts of an entry may have one text, and a sample's labels must be unique.
    let mut by_assert: BTreeMap<Labels, u64> = BTreeMap::new();
    for (entry, label) in all() {
        for assert in &entry.asserts {
            *by_assert.entry(vec![label.clone(), ("assert", assert.assert.clone())]).or_default() += assert.failed;
        }
    }
    let times = all().zip(&counts.entries);
    let events = all().filter_map(|(entry, label)| Some((vec![label], entry.streams.as_ref()?.events)));
    let events = counters("torr_entry_events_total", "Events of event streams, by entry.", events);
    let mut families = vec![
        counters("torr_entry_requests_total", "Complete responses by entry and status.", by_status),
        count(
            "torr_entry_failed_total",
            "Requests that failed, without a complete response or with a response that is not as expected, by entry.",
            |entry| entry.failed,
        ),
        count("torr_entry_request_failures_total", "Requests without a complete response, by entry.", |entry| {
            entry.request_failures
        }),
        count("torr_entry_retries_total", "Requests sent again because of failed asserts, by entry.", |entry| {
            entry.retries
        }),
        count("torr_entry_sessions_failed_total", "Sessions that ended early, by the entry where.", |entry| {
            entry.sessions_failed
        }),
        counters("torr_entry_assert_failures_total", "Failed asserts by entry and assert.", by_assert),
        histograms(
            "torr_entry_latency_seconds",
            "Time from when a request was due to its last byte, by entry; timeouts and unfinished requests at their age.",
            times.map(|((_, label), counts)| (vec![label], Cow::Borrowed(&counts.response_times))),
        ),
    ];
    families.extend(Some(events).filter(|events| !events.is_empty()));
    families
}
