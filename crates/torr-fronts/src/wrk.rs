//! wrk and wrk2: their command line, and the output of a run.

mod args;
pub mod layout;
mod numbers;
mod plan;
mod units;

pub use args::{Args, Parsed, Program, parse};

use crate::error::FrontError;
use crate::host::Host;
use std::ffi::OsString;
use std::process::ExitCode;
use torr_gauge::collector::Progress;

/// Runs the command line.
pub(crate) fn run<H: Host>(args: Vec<OsString>, program: Program, host: &mut H) -> Result<ExitCode, FrontError> {
    match program.parse(args) {
        Ok(Parsed::Run(args)) => measure(&args, host),
        Ok(Parsed::Help) => {
            H::print(&program.usage());
            Ok(ExitCode::SUCCESS)
        }
        Err(error) => {
            eprintln!("{}: {}", program.name(), error.message);
            H::print(&program.usage());
            Ok(ExitCode::FAILURE)
        }
    }
}

fn measure<H: Host>(args: &Args, host: &mut H) -> Result<ExitCode, FrontError> {
    if args.version {
        H::print(concat!("torr ", env!("CARGO_PKG_VERSION"), ", in the layout of wrk 4\n"));
    }
    // The heading is not printed before the service has been reached.
    let mut heading = layout::heading(args);
    let mut begin = || H::print(&std::mem::take(&mut heading));
    let measured = host.measure(plan::load(args)?, |_: &Progress| begin()).map_err(|error| match error {
        // wrk has one exit code for all failures.
        FrontError::Unreachable(line) => FrontError::Failed(line),
        other => other,
    })?;
    begin();
    H::print(&layout::report(&measured, args));
    let mut notes = layout::notes(&measured);
    if args.uncorrected {
        notes.push("latency since sending is not measured: the latency since the scheduled time is shown".into());
    }
    let failed = host.finish(&measured, &notes)?;
    Ok(failed.unwrap_or(if measured.result.requests == 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS }))
}
