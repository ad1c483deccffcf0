//! The series as CSV: a line for each interval of the run.

use serde::Serialize;
use torr_gauge::RunResult;

/// A line. What is not known is an empty cell.
#[derive(Serialize)]
struct Line {
    /// The interval's end, in seconds since the run began.
    t: f64,
    requests: u64,
    errors: u64,
    /// Responses per second of this interval; unknown if it has no length.
    rps: Option<f64>,
    p50_us: Option<u64>,
    p99_us: Option<u64>,
}

/// The series with a line of names above it.
///
/// # Errors
/// Never for a result that a run made; the writer cannot promise that.
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
