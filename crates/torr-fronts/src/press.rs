//! `drogon_ctl press`: its command line, and the output of a run.

mod args;
pub mod layout;
mod plan;

pub use args::{Args, parse};

use crate::error::FrontError;
use crate::host::Host;
use crate::usage_error::UsageError;
use args::USAGE;
use std::ffi::OsString;
use std::process::ExitCode;
use torr_gauge::collector::Progress;

/// The number of responses for each line of progress.
const STEP: u64 = 100_000;

/// Runs the command line. Mistakes are printed on standard output, as by the original.
pub(crate) fn run<H: Host>(args: Vec<OsString>, host: &mut H) -> Result<ExitCode, FrontError> {
    match parse(args) {
        Ok(Some(args)) => measure(&args, host),
        Ok(None) => {
            H::print(USAGE);
            Ok(ExitCode::SUCCESS)
        }
        Err(UsageError { message, .. }) => {
            H::print(&format!("{message}\n"));
            Ok(ExitCode::FAILURE)
        }
    }
}

fn measure<H: Host>(args: &Args, host: &mut H) -> Result<ExitCode, FrontError> {
    let mut shown = 0;
    let mut received = |requests: u64| {
        while !args.quiet && shown + STEP <= requests {
            shown += STEP;
            H::print(&format!("{shown} responses are received\n\n"));
        }
    };
    let measured = host.measure(plan::load(args)?, |progress: &Progress| received(progress.requests))?;
    received(measured.result.requests);
    H::print(&layout::report(&measured));
    host.finish(&measured, &layout::notes(&measured))?;
    Ok(if measured.result.interrupted { H::interrupted() } else { ExitCode::SUCCESS })
}
