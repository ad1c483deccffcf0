//! The figure of a run that a rule compares with its limit.

use super::metric::Metric;
use super::scope::{Scope, is_called};
use crate::Latency;
use crate::collector::Measurement;
use crate::sessions::EntryCounts;
use crate::streams::StreamTally;

/// A figure in its own unit: microseconds, a number per second, or a count.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Figure {
    pub value: f64,
    /// The count that the value is a share of.
    pub of: u64,
}

/// Returns the figure; `None` if the run does not tell it.
pub(super) fn figure(metric: Metric, scope: &Scope, run: &Measurement) -> Option<Figure> {
    match scope {
        Scope::Run => of_run(metric, run),
        Scope::Entry(name) => of_entry(metric, name, run),
        Scope::Sessions | Scope::FirstEvents | Scope::Gaps | Scope::FirstTokens | Scope::TokenGaps => {
            Some(Figure { value: time(metric, &latency(scope, run)?)?, of: 0 })
        }
    }
}

/// Returns the times of a part of a run: response times with the ages of requests without a response, durations of sessions, or those of
/// streams.
pub(super) fn latency(scope: &Scope, run: &Measurement) -> Option<Latency> {
    match scope {
        Scope::Run => Some(run.total.latency()),
        Scope::Entry(name) => Some(counts(name, run)?.response_times),
        Scope::Sessions => Some(run.sessions.as_ref()?.durations.clone()),
        Scope::FirstEvents => of_streams(run, |streams| &streams.first_event),
        Scope::Gaps => of_streams(run, |streams| &streams.gaps),
        Scope::FirstTokens => Some(run.total.streams.as_ref()?.tokens.as_ref()?.first.clone()),
        Scope::TokenGaps => Some(run.total.streams.as_ref()?.tokens.as_ref()?.gaps.clone()),
    }
}

/// Returns times of the streams of a run: of all its responses, or of those among the responses of its sessions.
fn of_streams(run: &Measurement, times: fn(&StreamTally) -> &Latency) -> Option<Latency> {
    if let Some(streams) = &run.total.streams {
        return Some(times(streams).clone());
    }
    let entries = run.sessions.iter().flat_map(|sessions| &sessions.entries);
    entries.filter_map(|entry| entry.streams.as_deref()).fold(None, |all: Option<Latency>, streams| {
        let mut all = all.unwrap_or_default();
        all.add(times(streams));
        Some(all)
    })
}

/// Returns the number of gaps that the end of the run cut off after more than so many microseconds, where a part of a run is gaps.
pub(super) fn cut_off_after(us: u64, scope: &Scope, run: &Measurement) -> u64 {
    let open_gaps = of_streams(run, |streams| &streams.open_gaps).filter(|_| *scope == Scope::Gaps);
    open_gaps.map_or(0, |open_gaps| open_gaps.count() - open_gaps.up_to(us))
}

/// Returns the gaps with those that the end of the run cut off after more than so many microseconds, where a part of a run is gaps; `None`
/// if there are none of these.
pub(super) fn with_cut_off(us: u64, scope: &Scope, run: &Measurement) -> Option<Latency> {
    if cut_off_after(us, scope, run) == 0 {
        return None;
    }
    let (mut gaps, open) = (latency(scope, run)?, of_streams(run, |streams| &streams.open_gaps)?);
    open.counts().filter(|(open_us, _)| *open_us > us).for_each(|(open_us, count)| gaps.record_many(open_us, count));
    Some(gaps)
}

fn of_run(metric: Metric, run: &Measurement) -> Option<Figure> {
    let result = &run.result;
    let latency = result.latency_us.as_ref();
    let entries = || run.sessions.as_ref().map(|sessions| sessions.entries.iter());
    let of_requests = |value: u64| Some((value as f64, result.started));
    let (value, of) = match metric {
        Metric::Min => (latency?.min as f64, 0),
        Metric::Mean => (latency?.mean, 0),
        Metric::Stddev => (latency?.stddev, 0),
        Metric::Max => (latency?.max as f64, 0),
        Metric::Percentile(share) => (run.total.latency().quantile(share)? as f64, 0),
        Metric::Rps => (result.rps, 0),
        Metric::Errors => of_requests(result.errors.total())?,
        Metric::Kind(kind) => of_requests(result.errors.of(kind))?,
        Metric::Grpc(status) => {
            let count = result.plan.is_grpc().then(|| result.grpc.get(status.name()).copied().unwrap_or(0));
            of_requests(count?)?
        }
        Metric::Unfinished => of_requests(result.unfinished)?,
        Metric::Retries => of_requests(entries()?.map(|entry| entry.retries).sum())?,
        Metric::FailedAsserts => {
            let failed = entries()?.map(EntryCounts::asserts_failed).sum::<u64>();
            (failed as f64, entries()?.map(EntryCounts::requests).sum())
        }
        Metric::SessionsFailed => {
            let sessions = run.sessions.as_ref()?;
            (sessions.failed as f64, sessions.started)
        }
    };
    Some(Figure { value, of })
}

fn of_entry(metric: Metric, name: &str, run: &Measurement) -> Option<Figure> {
    let (sessions, counts) = (run.sessions.as_ref()?, counts(name, run)?);
    let of_requests = |value: u64| (value as f64, counts.begun());
    let (value, of) = match metric {
        Metric::Rps => (counts.requests() as f64 / run.result.duration_s.max(f64::MIN_POSITIVE), 0),
        Metric::Errors => of_requests(counts.failed()),
        Metric::Unfinished => of_requests(counts.unfinished),
        Metric::Retries => of_requests(counts.retries),
        Metric::FailedAsserts => (counts.asserts_failed() as f64, counts.requests()),
        Metric::SessionsFailed => (counts.sessions_failed as f64, sessions.started),
        Metric::Kind(_) | Metric::Grpc(_) => return None,
        metric => (time(metric, &counts.response_times)?, 0),
    };
    Some(Figure { value, of })
}

/// Returns a figure of a distribution in microseconds.
pub(super) fn time(metric: Metric, latency: &Latency) -> Option<f64> {
    let summary = latency.summary()?;
    Some(match metric {
        Metric::Min => summary.min as f64,
        Metric::Mean => summary.mean,
        Metric::Stddev => summary.stddev,
        Metric::Max => summary.max as f64,
        Metric::Percentile(share) => latency.quantile(share)? as f64,
        _ => return None,
    })
}

/// Returns the merged counts of all entries that `name` means.
fn counts(name: &str, run: &Measurement) -> Option<EntryCounts> {
    let named = run.result.entries.iter().zip(&run.sessions.as_ref()?.entries);
    let meant = named.filter(|(entry, _)| is_called(name, &entry.name, &entry.file, entry.line));
    meant.map(|(_, counts)| counts.clone()).reduce(|mut merged, counts| {
        merged.merge(&counts);
        merged
    })
}
