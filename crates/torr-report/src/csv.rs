//! The time series as CSV, one line per interval, and entries of sessions, one line per entry.

use serde::Serialize;
use torr_gauge::RunResult;
use torr_gauge::latency::is_known;
use torr_gauge::sessions::EntryResult;

/// One line. An unknown value is an empty cell.
#[derive(Serialize)]
struct Line {
    /// The interval's end, in seconds from the start of the run.
    t: f64,
    requests: u64,
    errors: u64,
    /// Responses per second of the interval; unknown for an interval of length zero.
    rps: Option<f64>,
    p50_us: Option<u64>,
    p99_us: Option<u64>,
}

/// The column that runs whose responses are streams have in addition.
#[derive(Serialize)]
struct StreamColumns {
    events: u64,
}

/// The column that runs over WebSocket connections have in addition, unless all messages are events.
#[derive(Serialize)]
struct WebSocketColumns {
    pushed: u64,
}

/// The columns that runs with sessions have in addition.
#[derive(Serialize)]
struct SessionColumns {
    /// Sessions that came to their end in the interval.
    finished: u64,
    /// Sessions that ended early in the interval.
    failed: u64,
}

/// Returns the series below a line of column names. Percentiles that the interval has too few samples for are unknown, as in the
/// text report. A run with sessions or streams, or over WebSocket connections, has columns for them.
///
/// # Errors
/// Never for the result of a run.
pub fn series(run: &RunResult) -> Result<String, csv::Error> {
    let mut writer = csv::WriterBuilder::new().has_headers(false).from_writer(Vec::new());
    let names = ["t", "requests", "errors", "rps", "p50_us", "p99_us"];
    let of_sessions = ["sessions_finished", "sessions_failed"].into_iter().filter(|_| run.sessions.is_some());
    let of_streams = std::iter::once("events").filter(|_| run.streams.is_some());
    let is_pushed = run.sessions.is_none() && run.streams.is_none() && run.websocket.is_some();
    let of_websockets = std::iter::once("pushed").filter(|_| is_pushed);
    writer.write_record(names.into_iter().chain(of_sessions).chain(of_streams).chain(of_websockets))?;
    let mut begin = 0.0;
    for point in &run.series {
        let length = point.t - begin;
        let samples = point.latency_histogram.latency().count();
        let rps = (length > 0.0).then(|| point.requests as f64 / length);
        let line = Line {
            t: point.t,
            requests: point.requests,
            errors: point.errors,
            rps: rps.map(|rps| (rps * 1000.0).round() / 1000.0),
            p50_us: point.p50.filter(|_| is_known(samples, 0.5)),
            p99_us: point.p99.filter(|_| is_known(samples, 0.99)),
        };
        let sessions = SessionColumns { finished: point.sessions_finished, failed: point.sessions_failed };
        let streams = StreamColumns { events: point.events };
        match (&run.sessions, &run.streams) {
            (Some(_), _) => writer.serialize((line, sessions))?,
            (None, Some(_)) => writer.serialize((line, streams))?,
            (None, None) if is_pushed => writer.serialize((line, WebSocketColumns { pushed: point.pushed }))?,
            (None, None) => writer.serialize(line)?,
        }
        begin = point.t;
    }
    text(writer)
}

/// Returns the entries of sessions below a line of column names. Times are in microseconds; an unknown one is an empty cell.
///
/// # Errors
/// Never for the result of a run.
pub fn entries(run: &RunResult) -> Result<String, csv::Error> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let counts = ["requests", "rps", "failed", "request_failures", "unfinished", "retries", "sessions_failed"];
    let times = ["mean_us", "p50_us", "p90_us", "p95_us", "p99_us", "max_us"];
    let names = ["name", "file", "line"].into_iter().chain(counts).chain(["asserts_failed"]).chain(times);
    writer.write_record(names)?;
    run.entries.iter().try_for_each(|entry| writer.write_record(cells(entry)))?;
    text(writer)
}

fn cells(entry: &EntryResult) -> Vec<String> {
    let known = |number: Option<u64>| number.map_or_else(String::new, |number| number.to_string());
    let times = entry.latency_us.as_ref();
    vec![
        entry.name.clone(),
        entry.file.clone(),
        entry.line.to_string(),
        entry.requests.to_string(),
        entry.rps.to_string(),
        entry.failed.to_string(),
        entry.request_failures.to_string(),
        entry.unfinished.to_string(),
        entry.retries.to_string(),
        entry.sessions_failed.to_string(),
        entry.asserts_failed.to_string(),
        times.map_or_else(String::new, |times| times.mean.to_string()),
        known(times.and_then(|times| times.p50)),
        known(times.and_then(|times| times.p90)),
        known(times.and_then(|times| times.p95)),
        known(times.and_then(|times| times.p99)),
        known(times.map(|times| times.max)),
    ]
}

fn text(writer: csv::Writer<Vec<u8>>) -> Result<String, csv::Error> {
    let bytes = writer.into_inner().map_err(|error| error.into_error())?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;
    use torr_gauge::collector::RunFacts;
    use torr_gauge::{Collector, Sample};

    #[test]
    fn a_percentile_of_too_few_responses_is_an_empty_cell() {
        let mut collector = Collector::new(1, Duration::from_secs(1));
        for (interval, responses) in [5, 20, 600].into_iter().enumerate() {
            let mut sample = Sample::default();
            (0..responses).for_each(|_| sample.answered.record(1_000_000));
            collector.take(0, interval as u64, &sample, interval == 2);
        }
        let run = collector.finish(RunFacts { duration: Duration::from_secs(3), ..RunFacts::default() }).result;
        let lines = series(&run).expect("it is the result of a run");
        assert_eq!(
            lines,
            "t,requests,errors,rps,p50_us,p99_us\n1.0,5,0,5.0,,\n2.0,20,0,20.0,1000,\n3.0,600,0,600.0,1000,1000\n"
        );
    }
}
