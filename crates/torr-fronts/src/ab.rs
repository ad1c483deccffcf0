//! ApacheBench: its command line, and the output of a run.

mod args;
pub mod layout;
mod plan;
mod progress;

pub use args::{Args, Parsed, parse};

use crate::error::FrontError;
use crate::files;
use crate::host::Host;
use crate::usage_error::UsageError;
use args::{BANNER, USAGE};
use progress::Output;
use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;
use torr_gauge::collector::{Measurement, Progress};

/// The exit code of bad usage where the usage is shown.
const BAD_USAGE: u8 = 22;

/// Runs the command line.
pub(crate) fn run<H: Host>(args: Vec<OsString>, host: &mut H) -> Result<ExitCode, FrontError> {
    match parse(args) {
        Ok(Parsed::Run(args)) => measure(&args, host),
        Ok(Parsed::Version) => {
            H::print(BANNER);
            Ok(ExitCode::SUCCESS)
        }
        Ok(Parsed::Help) => {
            H::print(USAGE);
            Ok(ExitCode::SUCCESS)
        }
        Err(UsageError { message, with_usage: true }) => {
            eprint!("ab: {message}\n{USAGE}");
            Ok(ExitCode::from(BAD_USAGE))
        }
        Err(UsageError { message, with_usage: false }) => Err(FrontError::Failed(message)),
    }
}

fn measure<H: Host>(args: &Args, host: &mut H) -> Result<ExitCode, FrontError> {
    let (load, bytes) = plan::load(args)?;
    let target = load.target.clone();
    let mut percentages = args.percentages.as_deref().map(files::create).transpose()?;
    let mut gnuplot = args.gnuplot.as_deref().map(files::create).transpose()?;
    let mut output = Output::new(args, &target, &bytes, H::print);
    let measured = host.measure(load, |progress: &Progress| output.completed(progress.requests))?;
    output.finished(&measured, args);
    H::print(&match &args.table {
        Some(attributes) => layout::table(&measured, args, &target, attributes),
        None => layout::report(&measured, args, &target),
    });
    let mut written = Ok(());
    if let Some(file) = &mut percentages {
        written = layout::files::percentages(file, &measured).and_then(|()| file.flush());
    }
    if let Some(file) = &mut gnuplot {
        written = written.and_then(|()| layout::files::requests(file, &measured)).and_then(|()| file.flush());
    }
    written.map_err(|error| FrontError::Failed(format!("cannot write a results file: {error}")))?;
    host.finish(&measured, &notes(args, &measured))?;
    Ok(exit_code::<H>(args, &measured))
}

fn notes(args: &Args, measured: &Measurement) -> Vec<String> {
    let mut notes = layout::notes(measured, args);
    for (applies, note) in [
        (args.gnuplot.is_some(), "in the -g file only ttime is measured for each request"),
        (args.buffer.is_some(), "-b has no effect: the system's buffers are used"),
        (args.ciphers.is_some(), "-Z has no effect: all cipher suites are offered"),
        (args.verbosity > 2, "-v shows the first response only"),
    ] {
        notes.extend(applies.then(|| note.to_owned()));
    }
    notes
}

/// Failed requests fail the command, unless they are forgiven.
fn exit_code<H: Host>(args: &Args, measured: &Measurement) -> ExitCode {
    let result = &measured.result;
    match () {
        () if result.interrupted => H::interrupted(),
        () if result.requests == 0 => ExitCode::FAILURE,
        () if measured.total.failures.total() > 0 && !args.ignore_failures => ExitCode::FAILURE,
        () => ExitCode::SUCCESS,
    }
}
