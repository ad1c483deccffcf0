//! One turn of a load generator: run to its end, its count read and, where that is possible, checked.

use std::path::Path;
use std::time::Duration;

use crate::candidates::tally::Tally;
use crate::child;
use crate::measure::Turn;
use torr_test_support::error::Error;

/// How long a generator may take beyond its turn, to connect and to sum up.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// A load generator's command line, and how its output is read.
pub struct Generator<'a> {
    /// Its name among the candidates.
    pub name: &'static str,
    /// Its program.
    pub program: &'a str,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// Reads its stdout.
    pub tally: fn(&str) -> Option<Tally>,
}

/// Runs it on the load's CPU. Its own CPU time is what the turn has cost: a tool's from its start to its end, but the floor's
/// to the end of its loop, as the figures to reach were measured. That is hard on the tools where connections are many, since
/// closing them costs as well, so the whole is kept too.
///
/// `seconds` is the turn's length, `response` the length in bytes of the one response that the server gives, where that is known:
/// the floor's bytes that are not as many times that mean that something else was counted than responses.
pub fn take(generator: &Generator<'_>, seconds: f64, response: Option<u64>, folder: &Path) -> Result<Turn, Error> {
    let limit = Duration::from_secs_f64(seconds) + PATIENCE;
    let ended = child::run(generator.name, generator.program, &generator.arguments, folder, limit)?;
    let Some(tally) = (generator.tally)(&ended.stdout) else {
        return Err(Error::failed(format!("no count in its output, which ends in: {}", ended.last_words)));
    };
    if tally.requests == 0 {
        return Err(Error::failed("it completed no request"));
    }
    if tally.failed > tally.requests / 2 {
        return Err(Error::failed(format!("{} of its {} requests failed", tally.failed, tally.requests)));
    }
    if let (Some(floor), Some(response)) = (&tally.floor, response)
        && floor.bytes != tally.requests * response
    {
        let (requests, bytes) = (tally.requests, floor.bytes);
        return Err(Error::failed(format!("{bytes} bytes received are not {requests} answers of {response} bytes")));
    }
    let loop_seconds = tally.floor.as_ref().map(|floor| floor.cpu_us_per_request * tally.requests as f64 / 1e6);
    Ok(Turn {
        requests: tally.requests,
        failed: tally.failed,
        wall_seconds: ended.wall_seconds,
        cpu_seconds: loop_seconds.unwrap_or(ended.cpu_seconds),
        whole_cpu_seconds: ended.cpu_seconds,
        send_lag_p99_us: tally.send_lag_p99_us,
    })
}
