//! `torr wrk`: the command line and layout of wrk, and with `-R` those of wrk2.

use super::run::{self, FrontLoad};
use crate::exit::CliError;
use crate::output::print;
use crate::script::Script;
use std::ffi::OsString;
use std::process::ExitCode;
use std::time::Duration;
use torr_fronts::wrk::{Args, Parsed, Program};
use torr_gauge::collector::Progress;
use torr_gauge::redact;
use torr_press::{Schedule, Target};
use torr_report::fronts::wrk as layout;

/// Runs the command line.
pub fn run(args: Vec<OsString>, program: Program) -> Result<ExitCode, CliError> {
    match program.parse(args) {
        Ok(Parsed::Run(args)) => press(args),
        Ok(Parsed::Help) => {
            print(&program.usage());
            Ok(ExitCode::SUCCESS)
        }
        Err(error) => {
            anstream::eprintln!("{}: {}", program.name(), error.message);
            print(&program.usage());
            Ok(ExitCode::FAILURE)
        }
    }
}

fn press(args: Args) -> Result<ExitCode, CliError> {
    if args.version {
        print(concat!("torr ", env!("CARGO_PKG_VERSION"), ", in the layout of wrk 4\n"));
    }
    let target = Target::parse(&args.url).map_err(CliError::usage)?;
    // By itself wrk sends nothing but Host.
    let headers = [args.headers.as_slice(), &["User-Agent:".to_owned(), "Accept:".to_owned()]].concat();
    let request = run::request(&target, "GET", headers, None, true)?;
    let schedule = args.rate.map(|rate| Schedule::constant(rate as f64)).transpose();
    let layout = layout::Settings {
        url: redact::url(&args.url).into_owned(),
        threads: args.threads,
        connections: args.connections,
        seconds: args.duration,
        latency: args.latency,
        on_schedule: args.rate.is_some(),
    };
    let load = FrontLoad {
        duration: Some(Duration::from_secs(args.duration)),
        schedule: schedule.map_err(|error| CliError::Usage(error.to_string()))?,
        script: args.script.map(|(file, arguments)| (file.into(), arguments)),
        ..FrontLoad::new(target, request, (args.connections, args.threads), Duration::from_secs(args.timeout))
    };
    // Not before the service has been reached.
    let mut heading = layout::heading(&layout);
    let mut begin = || print(&std::mem::take(&mut heading));
    // As wrk's exit code has it.
    let as_wrk = |stop| match stop {
        CliError::Unreachable(line) => CliError::Failed(line),
        other => other,
    };
    let (plan, script) = load.plan().map_err(as_wrk)?;
    let measured = run::press(&plan, |_: &Progress| begin()).map_err(as_wrk)?;
    begin();
    print(&layout::report(&measured, &layout));
    let mut notes = layout::notes(&measured);
    if args.uncorrected {
        notes.push("latency from sending is not kept: what is shown is from due".into());
    }
    let outcome = Script::outcome(&measured);
    let failed = script.map(|script| script.finish(outcome)).transpose()?.flatten();
    run::tell_verdict(&measured, &notes);
    if let Some(code) = failed {
        return Ok(code);
    }
    Ok(if measured.result.requests == 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}
