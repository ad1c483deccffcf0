//! `torr k6`: scripts of k6 by k6's command line.

use crate::exit::CliError;
use std::process::ExitCode;
use torr_fronts::k6::RunArgs;

/// Runs a script, or prints its options.
pub fn run(args: RunArgs, inspects: bool) -> Result<ExitCode, CliError> {
    let verb = if inspects { "inspect" } else { "run" };
    Err(CliError::Failed(format!("cannot {verb} '{}': scripts of k6 are not supported by this build", args.script)))
}
