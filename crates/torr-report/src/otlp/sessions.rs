//! The metrics of sessions and their entries.

use super::points::{Points, gauge, number, sum, text};
use crate::entries;
use opentelemetry_proto::tonic::metrics::v1::Metric;
use torr_gauge::collector::Measurement;
use torr_gauge::sessions::{EntryResult, SessionCounts};

/// The attribute that names an entry.
const ENTRY: &str = "torr.entry";

/// Returns the metrics of a run with sessions, none of another.
pub(super) fn metrics(points: &Points, run: &Measurement) -> Vec<Metric> {
    let (Some(counts), Some(summary)) = (&run.sessions, &run.result.sessions) else { return Vec::new() };
    let outcomes = [("finished", summary.finished), ("failed", summary.failed), ("unfinished", summary.unfinished)];
    let sessions = outcomes.map(|(outcome, n)| points.count(n, vec![text("torr.session.outcome", outcome)]));
    let mut metrics = vec![
        sum("torr.sessions", "{session}", "Sessions of virtual users by outcome", sessions.into()),
        points.histogram(
            "torr.session.duration",
            "Time from when a session was due to its end, of finished sessions",
            vec![points.times(&counts.durations, None, Vec::new())],
        ),
        gauge(
            "torr.sessions.rate",
            "{session}/s",
            "Finished sessions per second over the whole run",
            points.value(summary.per_second),
        ),
    ];
    metrics.extend(entry_metrics(points, &run.result.entries, counts));
    metrics
}

fn entry_metrics(points: &Points, results: &[EntryResult], counts: &SessionCounts) -> Vec<Metric> {
    let titles = entries::titles(results);
    let all = || results.iter().zip(&titles);
    let count = |name: &str, unit: &str, description: &str, of: fn(&EntryResult) -> u64| {
        let each = all().map(|(entry, title)| points.count(of(entry), vec![text(ENTRY, title)]));
        sum(name, unit, description, each.collect())
    };
    let by_status = all().flat_map(|(entry, title)| {
        entry.status.iter().map(move |(&status, &n)| {
            points.count(n, vec![text(ENTRY, title), number("http.response.status_code", i64::from(status))])
        })
    });
    let times = all().zip(&counts.entries);
    let times = times.map(|((_, title), counts)| points.times(&counts.response_times, None, vec![text(ENTRY, title)]));
    let events = all().filter_map(|(entry, title)| {
        entry.streams.as_ref().map(|streams| points.count(streams.events, vec![text(ENTRY, title)]))
    });
    let events: Vec<_> = events.collect();
    let mut metrics = vec![
        sum("torr.entry.requests", "{request}", "Complete responses by entry and status", by_status.collect()),
        count(
            "torr.entry.failed",
            "{request}",
            "Requests that failed, without a complete response or with a response that is not as expected, by entry",
            |entry| entry.failed,
        ),
        count("torr.entry.retries", "{request}", "Requests sent again because of failed asserts, by entry", |entry| {
            entry.retries
        }),
        count("torr.entry.sessions_failed", "{session}", "Sessions that ended early, by the entry where", |entry| {
            entry.sessions_failed
        }),
        count("torr.entry.asserts_failed", "{assert}", "Failed asserts by entry", |entry| entry.asserts_failed),
        points.histogram(
            "torr.entry.latency",
            "Time from when a request was due to its last byte, by entry; timeouts and unfinished requests at their age",
            times.collect(),
        ),
    ];
    if !events.is_empty() {
        metrics.push(sum("torr.entry.events", "{event}", "Events of event streams, by entry", events));
    }
    metrics
}
