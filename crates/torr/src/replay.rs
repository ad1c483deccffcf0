//! `torr replay`: sends the requests of an access log again, each at its own time, and compares with the log.

mod args;

pub use args::ReplayArgs;

use crate::exit::CliError;
use crate::output;
use std::process::ExitCode;
use std::sync::Arc;
use torr_gauge::numbers::{count, plural};
use torr_gauge::secrets::Haystack;
use torr_load::Load;
use torr_logs::{Format, LogCounts, LogError, LogReader, LoggedRequest, Selection};
use torr_plan::url;
use torr_press::{Pace, Plan, Work};
use torr_replay::{Replay, RequestTemplate, Settings, shown};

/// The number of hosts that an error names.
const NAMED: usize = 3;

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
    let first = first.ok_or_else(|| nothing(&reader.counts()))?;
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
    let (mut request, mut secrets) = (Vec::new(), Vec::new());
    if let Some(requests) = base.work.requests() {
        requests.cursor(0, 1).write(&mut request);
        secrets = requests.secrets(&Haystack::default());
    }
    let headers = load.request.headers.iter().filter_map(|line| line.split_once([':', ';']));
    let headers = headers.map(|(name, _)| name.trim().to_owned());
    let given = headers.chain(load.request.user_agent.as_ref().map(|_| "user-agent".to_owned()));
    let origin = base.origins().into_iter().next().unwrap_or_default();
    let template = RequestTemplate::new(&request, &origin, &base.target.host, given);
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

/// Returns the error of logs of which nothing can be replayed.
fn nothing(counts: &LogCounts) -> CliError {
    let mut why = Vec::new();
    if counts.unreadable > 0 {
        let line = counts.first_unreadable.as_deref().map(shown).unwrap_or_default();
        why.push(format!("{} unreadable, the first one '{line}'", count(counts.unreadable)));
    }
    if counts.outside > 0 {
        why.push(format!("{} outside --from and --to", count(counts.outside)));
    }
    let methods: u64 = counts.methods.values().sum();
    if methods > 0 {
        let names: Vec<_> = counts.methods.keys().take(NAMED).map(String::as_str).collect();
        why.push(format!("{} of other methods: add --methods {}", count(methods), names.join(",")));
    }
    let hosts: u64 = counts.hosts.values().sum();
    if hosts > 0 {
        let mut names: Vec<_> = counts.hosts.iter().collect();
        names.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
        let names: Vec<_> = names.into_iter().take(NAMED).map(|(name, _)| format!("--host {name}")).collect();
        why.push(format!("{} of other hosts: add {}", count(hosts), names.join(" ")));
    }
    CliError::Usage(format!("no request of the log can be replayed: {}", why.join("; ")))
}

/// Returns the error of a log that cannot be read.
fn usage(error: &LogError) -> CliError {
    let hint = match error {
        LogError::Unknown { line, .. } => {
            format!(": its first line is '{}'; give the log_format with --format", shown(line))
        }
        LogError::Read(..) | LogError::Empty(_) => String::new(),
    };
    CliError::Usage(format!("{error}{hint}"))
}
