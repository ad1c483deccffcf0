//! The time series as CSV, one line per interval.

use serde::Serialize;
use torr_gauge::RunResult;

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

/// Returns the series below a line of column names.
///
/// # Errors
/// Never for the result of a run.
pub fn series(run: &RunResult) -> Result<String, csv::Error> {
    let mut writer = csv::WriterBuilder::new().has_headers(false).from_writer(Vec::new());
    writer.write_record(["t", "requests", "errors", "rps", "p50_us", "p99_us"])?;
    let mut begin = 0.0;
    for point in &run.series {
        let length = point.t - begin;
        let rps = (length > 0.0).then(|| point.requests as f64 / length);
        writer.serialize(Line {
            t: point.t,
            requests: point.requests,
            errors: point.errors,
            rps: rps.map(|rps| (rps * 1000.0).round() / 1000.0),
            p50_us: point.p50,
            p99_us: point.p99,
        })?;
        begin = point.t;
    }
    let bytes = writer.into_inner().map_err(|error| error.into_error())?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
