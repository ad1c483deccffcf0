//! `torr URL`: from the command line to a plan, and from the result to the screen.

mod outputs;
pub mod permission;
pub mod ports;

use crate::exit::Stop;
use crate::flags::checks::CheckArgs;
use crate::flags::input::Input;
use crate::flags::load::LoadArgs;
use crate::flags::output::OutputArgs;
use crate::flags::request::RequestArgs;
use crate::flags::script::ScriptArgs;
use crate::flags::session::SessionFlags;
use crate::flags::transport::TransportArgs;
use crate::interrupt;
use crate::script::{Script, ScriptSettings};
use crate::sink;
use clap::Args;
use outputs::Outputs;
use std::io::IsTerminal;
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use torr_gauge::collector::{Measurement, Progress};
use torr_gauge::sessions::EntryName;
use torr_press::request::Options;
use torr_press::{Pace, Plan, RunError};
use torr_report::live::LiveProgress;
use torr_script::{Printing, ScriptFile};

/// The default duration of a run.
const DURATION: Duration = Duration::from_secs(10);

/// `torr URL`.
#[derive(Debug, Args)]
pub struct PressArgs {
    /// A URL, whose 'http://' may be left out; or files: a.hurl, or a.hurl=7 b.hurl=1 with weights, script.lua, plan.toml
    #[arg(value_name = "TARGET", required_unless_present = "urls")]
    pub targets: Vec<String>,
    #[command(flatten)]
    pub load: LoadArgs,
    #[command(flatten)]
    pub request: RequestArgs,
    #[command(flatten)]
    pub script: ScriptArgs,
    #[command(flatten)]
    pub transport: TransportArgs,
    #[command(flatten)]
    pub checks: CheckArgs,
    #[command(flatten)]
    pub session: SessionFlags,
    #[command(flatten)]
    pub output: OutputArgs,
    /// Print all of this as a plan in TOML, but for secrets, and send nothing; 'torr plan.toml' runs it
    #[arg(long, help_heading = "Output")]
    pub print_plan: bool,
}

/// Runs a plan and prints the report.
pub fn run(args: &PressArgs, plan: &Plan) -> Result<ExitCode, Stop> {
    run_with(args, plan, None)
}

/// Runs a plan whose requests a script makes, and prints the report.
pub fn run_script(args: &PressArgs, plan: Plan, path: &Path, arguments: &[String]) -> Result<ExitCode, Stop> {
    let takes_stdout = args.output.files().any(|(_, path)| sink::is_stdout(path));
    let printing = if takes_stdout { Printing::Stderr } else { Printing::Stdout };
    let settings = ScriptSettings {
        path,
        arguments,
        variables: args.session.variables.values(&mut Input::default())?.into_iter().collect(),
        secrets: args.session.variables.secrets().collect(),
        printing,
    };
    let script = Script::load(&plan, settings)?;
    let plan = script.plan(plan);
    if plan.users.is_some() && (plan.inspection.follow || !plan.inspection.checks.is_empty()) {
        let hint = "its own code sees each response";
        return Err(Stop::Usage(format!("--follow and --expect-... do not go with this script ({hint})")));
    }
    run_with(args, &plan, Some(script))
}

/// Runs a script that names its target itself, and prints the report.
pub fn run_script_file(args: &PressArgs, path: &Path) -> Result<ExitCode, Stop> {
    let url = ScriptFile::read(path).and_then(|file| torr_script::target(&file)).map_err(Stop::usage)?;
    run_script(args, plan(args, Some(&url))?, path, &[])
}

fn run_with(args: &PressArgs, plan: &Plan, script: Option<Script>) -> Result<ExitCode, Stop> {
    args.output.check(&entries(plan))?;
    let stop = interrupt::flag()?;
    let mut outputs = Outputs::open(&args.output, &plan.target.url)?;
    ports::warn(plan);
    let live = LiveProgress::new(plan.duration, !args.output.quiet && std::io::stderr().is_terminal());
    let run = press(plan, &stop, |progress| {
        live.progress(progress);
        outputs.progress(progress);
    });
    live.clear();
    match run {
        Ok(run) => {
            let outcome = Script::outcome(&run);
            let code = outputs.finish(run);
            Ok(script.map(|script| script.finish(outcome)).transpose()?.flatten().unwrap_or(code))
        }
        Err(stop) => Err(outputs.give_up(&plan.target.url, stop)),
    }
}

/// Returns the names of the entries of a plan, none for a URL.
pub fn entries(plan: &Plan) -> Vec<EntryName> {
    let users = plan.users.as_ref().filter(|users| users.has_sessions());
    users.map_or_else(Vec::new, |users| users.entries())
}

/// One run with its verdict.
pub fn press(plan: &Plan, stop: &AtomicBool, mut watch: impl FnMut(&Progress)) -> Result<Measurement, Stop> {
    let mut run = torr_press::run(plan, stop, |progress| watch(&progress)).map_err(why_not)?;
    run.result.verdict = Some(torr_doctor::passive(&run.result));
    Ok(run)
}

/// Why there was no run, to the user.
pub fn why_not(error: RunError) -> Stop {
    match error {
        RunError::Unreachable { .. } => Stop::Unreachable(error.to_string()),
        RunError::Files { .. } => Stop::Usage(error.to_string()),
        RunError::System(_) => Stop::Failed(error.to_string()),
    }
}

/// Returns what the command line asks for of a URL.
pub fn plan(args: &PressArgs, url: Option<&str>) -> Result<Plan, Stop> {
    let keep_alive = !args.load.no_keepalive;
    with_load(args, base(&args.request, &args.transport, url, keep_alive)?)
}

/// Returns a plan with the load of a command line.
pub fn with_load(args: &PressArgs, base: Plan) -> Result<Plan, Stop> {
    let load = &args.load;
    let (pace, depth) = (load.pace(), load.pipeline.unwrap_or(base.depth));
    if load.think.is_some() && base.users.is_none() && matches!(pace, Pace::Open(..)) {
        return Err(Stop::Usage("--think is for closed loops: in an open loop requests are due at their times".into()));
    }
    if load.max_rate.is_some() && matches!(pace, Pace::Open(..)) {
        return Err(Stop::Usage("--max-rate is for closed loops: the rate of an open loop is what it is told".into()));
    }
    let inspection = args.checks.inspection()?;
    if base.protocol.http2 && inspection.follow {
        return Err(Stop::Usage("--follow goes with HTTP/1.1 only".into()));
    }
    if matches!(pace, Pace::Connections(_)) && depth > 1 {
        return Err(Stop::Usage(
            "stages of connections go with one request at a time on each: leave out --pipeline and --streams".into(),
        ));
    }
    let endless = load.requests.is_none() && load.stages.is_none();
    Ok(Plan {
        inspection,
        pace,
        max_rate: load.max_rate,
        connections: load.connections(),
        depth,
        threads: load.threads.unwrap_or(base.threads),
        duration: load.duration.or(endless.then_some(DURATION)),
        requests: load.requests,
        warmup: load.warmup.unwrap_or_default(),
        think: load.think.clone(),
        requests_per_connection: load.requests_per_connection,
        timeout: load.timeout,
        ..base
    })
}

/// What is sent, and the way there: a plan of which only how hard to press is left to say. It has a thread for each CPU.
pub fn base(
    request: &RequestArgs,
    transport: &TransportArgs,
    url: Option<&str>,
    keep_alive: bool,
) -> Result<Plan, Stop> {
    base_and_options(request, transport, url, keep_alive).map(|(plan, _)| plan)
}

/// Returns the plan, and the options that its requests were made of.
pub fn base_and_options(
    request: &RequestArgs,
    transport: &TransportArgs,
    url: Option<&str>,
    keep_alive: bool,
) -> Result<(Plan, Options), Stop> {
    let (target, request, options) = request.requests(url, keep_alive)?;
    let route = transport.route(&target)?;
    let plan = Plan {
        sources: route.sources,
        tunnel: route.tunnel,
        protocol: route.protocol,
        depth: transport.http2.streams.unwrap_or(1),
        threads: cpus(),
        keep_alive,
        ..Plan::new(target, route.addresses, request)
    };
    Ok((plan, options))
}

/// CPUs that this process may use.
pub fn cpus() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}
