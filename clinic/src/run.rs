//! Plain runs of `torr` against a subject that is up.

use crate::environment::{Environment, Process};
use std::fs;
use std::time::Duration;
use torr_gauge::RunResult;
use torr_test_support::error::Error;

/// The time that a plain run may take beyond its own duration, before it is ended.
const OVERTIME: Duration = Duration::from_secs(30);

/// Presses a URL with some arguments of `torr`, and returns the result.
///
/// # Errors
/// If the run writes no result.
pub fn plain(environment: &Environment, arguments: &[&str], url: &str) -> Result<RunResult, Error> {
    let file = environment.folder().join("run.json");
    let _ = fs::remove_file(&file);
    let mut command = environment.generator.command(environment.torr());
    command.args(arguments).args(["-q", "--json"]).arg(&file).arg(url).current_dir(environment.folder());
    let ended = Process::start("run", &mut command, environment.folder())?.end(OVERTIME)?;
    let written = fs::read_to_string(&file).map_err(|_| Error::failed(ended.last_line))?;
    serde_json::from_str(&written).map_err(Error::at("torr's result"))
}
