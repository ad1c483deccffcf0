//! `torr httpress`: httpress' command line and layout.

use super::run::{self, FrontLoad};
use crate::exit::{self, CliError};
use crate::output::print;
use std::ffi::OsString;
use std::process::ExitCode;
use std::time::Duration;
use torr_fronts::UsageError;
use torr_fronts::httpress::{Args, parse};
use torr_gauge::collector::Progress;
use torr_press::Target;
use torr_report::fronts::httpress as layout;

/// The time-out of a request. httpress has none.
const TIMEOUT: Duration = Duration::from_secs(60);

const USAGE: &str = "\
httpress <options> <url>      (httpress' command line, run by torr)
  -n num   requests to send            (default: 1)
  -t num   threads                     (default: 1)
  -c num   connections at a time       (default: 1)
  -k       keep connections alive      (default: no)
  -q       no progress, no threads     (default: no)
  -z pri   TLS priorities: without effect
  -h       this help

example: httpress -n 10000 -c 100 -t 4 -k http://localhost:8080/
";

/// Runs the command line.
pub fn run(args: Vec<OsString>) -> Result<ExitCode, CliError> {
    match parse(args) {
        Ok(Some(args)) => press(&args),
        Ok(None) => {
            print(USAGE);
            Ok(ExitCode::SUCCESS)
        }
        Err(UsageError { message: what, with_usage }) => {
            anstream::eprintln!("httpress: {what}");
            if with_usage {
                print(USAGE);
            }
            Ok(ExitCode::FAILURE)
        }
    }
}

fn press(args: &Args) -> Result<ExitCode, CliError> {
    let target = Target::parse(&args.url).map_err(CliError::usage)?;
    let kept = if args.keep_alive { "keep-alive" } else { "close" };
    let headers = vec!["User-Agent:".to_owned(), "Accept:".to_owned(), format!("Connection: {kept}")];
    let request = run::request(&target, "GET", headers, None, args.keep_alive)?;
    let load = FrontLoad {
        requests: Some(args.requests),
        keep_alive: args.keep_alive,
        ..FrontLoad::new(target, request, (args.connections, args.threads), TIMEOUT)
    };
    let mut launched = Launched::new(args);
    let measured = load.press(|progress: &Progress| launched.at_least(progress.requests))?;
    launched.at_least(measured.result.started);
    print(&layout::report(&measured, !args.quiet));
    let mut notes = layout::notes(&measured);
    if args.priorities {
        notes.push("-z has no effect: all cipher suites are offered".into());
    }
    run::tell_verdict(&measured, &notes);
    Ok(if measured.result.interrupted { exit::interrupted() } else { ExitCode::SUCCESS })
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

    fn at_least(&mut self, requests: u64) {
        let Some(step) = self.step else { return };
        while self.shown < requests && (self.shown + step <= requests || requests == self.all) {
            self.shown = (self.shown + step).min(self.all);
            print(&format!("{} requests launched\n", self.shown));
        }
    }
}
