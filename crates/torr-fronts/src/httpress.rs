//! httpress: its command line, and the output of a run.

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

/// Runs the command line.
pub(crate) fn run<H: Host>(args: Vec<OsString>, host: &mut H) -> Result<ExitCode, FrontError> {
    match parse(args) {
        Ok(Some(args)) => measure(&args, host),
        Ok(None) => {
            H::print(USAGE);
            Ok(ExitCode::SUCCESS)
        }
        Err(UsageError { message, with_usage }) => {
            eprintln!("httpress: {message}");
            if with_usage {
                H::print(USAGE);
            }
            Ok(ExitCode::FAILURE)
        }
    }
}

fn measure<H: Host>(args: &Args, host: &mut H) -> Result<ExitCode, FrontError> {
    let mut launched = Launched::new(args);
    let mut show = |requests: u64| H::print(&launched.lines(requests));
    let measured = host.measure(plan::load(args)?, |progress: &Progress| show(progress.requests))?;
    show(measured.result.started);
    H::print(&layout::report(&measured, !args.quiet));
    let mut notes = layout::notes(&measured);
    if args.priorities {
        notes.push("-z has no effect: all cipher suites are offered".into());
    }
    host.finish(&measured, &notes)?;
    Ok(if measured.result.interrupted { H::interrupted() } else { ExitCode::SUCCESS })
}

/// The lines of progress: one for each quarter, or each 50,000, and one for all.
struct Launched {
    step: Option<u64>,
    all: u64,
    shown: u64,
}

impl Launched {
    fn new(args: &Args) -> Self {
        let step = (args.requests / 4).min(50_000);
        Self { step: (step >= 10 && !args.quiet).then_some(step), all: args.requests, shown: 0 }
    }

    /// Returns the lines that are due when at least this many requests have begun.
    fn lines(&mut self, requests: u64) -> String {
        let (mut lines, Some(step)) = (String::new(), self.step) else { return String::new() };
        while self.shown < requests && (self.shown + step <= requests || requests == self.all) {
            self.shown = (self.shown + step).min(self.all);
            lines += &format!("{} requests launched\n", self.shown);
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_for_each_quarter_and_one_for_all() {
        let mut launched = Launched::new(&Args { requests: 102, ..Args::default() });
        assert_eq!([0, 24, 60, 102].map(|requests| launched.lines(requests).lines().count()), [0, 0, 2, 3]);
        let mut few = Launched::new(&Args { requests: 39, ..Args::default() });
        assert_eq!(few.lines(39), "");
    }
}
