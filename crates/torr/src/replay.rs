//! `torr replay`: sends the requests of an access log again, each at its own time, and compares with the log.

mod args;

pub use args::ReplayArgs;

use crate::exit::CliError;
use crate::output;
use std::process::ExitCode;
use std::sync::Arc;
use torr_gauge::numbers::plural;
use torr_load::Load;
use torr_logs::{Format, LogError, LogReader, LoggedRequest, Selection};
use torr_plan::{log, url};
use torr_press::{Pace, Plan, Work};
use torr_replay::{Replay, Settings};

/// Runs the command.
pub fn run(args: &ReplayArgs) -> Result<ExitCode, CliError> {
    let load = args.load();
    let base = url::plan(&load, Some(&args.target))?;
    if base.target.path() != "/" {
        let hint = "the paths are those of the log";
        return Err(CliError::Usage(format!("--target must have no path, found '{}' ({hint})", base.target.shown())));
    }
    let selection = selection(args, &base);
    let mut reader = LogReader::open(&args.logs, args.format().as_ref(), selection).map_err(|error| usage(&error))?;
    let first = reader.next_request().map_err(|error| usage(&error))?;
    let nothing = || CliError::Usage(log::nothing(&reader.counts(), "--methods", "--host"));
    let first = first.ok_or_else(nothing)?;
    note(&reader, args);
    let plan = plan(args, &load, base, reader, first)?;
    crate::press::run(&load, &plan)
}

/// Returns what of the logs is replayed.
fn selection(args: &ReplayArgs, base: &Plan) -> Selection {
    let target = base.target.host.to_ascii_lowercase();
    let hosts = std::iter::once(target).chain(args.hosts.iter().cloned()).collect();
    Selection { methods: args.methods.clone(), hosts, from: args.from, to: args.to }
}

/// Returns the plan of a replay from the plan of the target.
fn plan(args: &ReplayArgs, load: &Load, base: Plan, reader: LogReader, first: LoggedRequest) -> Result<Plan, CliError> {
    let (template, secrets) = log::template(load, &base);
    let limits = Plan { depth: 1, ..base };
    let duration = load.pace.duration.as_deref().copied();
    let settings = Settings {
        speed: args.speed,
        most: limits.requests,
        duration,
        threads: limits.thread_count(),
        methods: args.methods.join(","),
        secrets,
    };
    let replay = Replay::start(reader, first, template, settings);
    let replay = Arc::new(replay.map_err(|error| CliError::Failed(format!("cannot start a thread: {error}")))?);
    Ok(Plan { pace: Pace::Fed(replay.feed()), work: Work::Users(replay), duration, ..limits })
}

/// Says what was recognised, and what a replay cannot have.
fn note(reader: &LogReader, args: &ReplayArgs) {
    if args.load.output.quiet {
        return;
    }
    let files = plural(args.logs.len() as u64, "log");
    let formats = reader.formats().join(", ");
    let bodies = match reader.formats().iter().all(|format| *format == Format::GoReplay.name()) {
        true => "",
        false => "; requests are sent without bodies, which logs do not have",
    };
    output::note(&format!("{files}, format {formats}{bodies}"));
    if reader.counts().spread {
        output::note("the log has whole seconds: the requests of a second are spread evenly over it");
    }
}

/// Returns the error of a log that cannot be read.
fn usage(error: &LogError) -> CliError {
    CliError::Usage(log::unreadable(error, "--format"))
}
