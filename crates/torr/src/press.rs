//! `torr URL`: from the command line to a plan, and from the result to the screen.

mod dashboard;
mod interval_log;
pub mod live;
pub mod outputs;
pub mod permission;
pub mod ports;
pub mod servers;

use crate::exit::{self, CliError};
use crate::flags::checks::CheckArgs;
use crate::flags::input::Input;
use crate::flags::load::{ArrivalsArg, LoadArgs};
use crate::flags::output::OutputArgs;
use crate::flags::request::RequestArgs;
use crate::flags::script::ScriptArgs;
use crate::flags::session::SessionFlags;
use crate::flags::transport::{TransportArgs, finder};
use crate::flags::unused;
use crate::flags::values::Stages;
use crate::interrupt;
use crate::judge::judge;
use crate::script::{self, Script, ScriptSettings};
use crate::sink;
use clap::Args;
use dashboard::DashboardArgs;
pub use dashboard::is_address as is_dashboard_address;
use live::WatchedRun;
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
use torr_script::Printing;

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
    /// Show the run on the whole screen, with keys that pause, steer and end it; without a terminal the progress line
    #[arg(long, help_heading = "Output", conflicts_with = "quiet")]
    pub live: bool,
    #[command(flatten)]
    pub dashboard: DashboardArgs,
    /// Print all of this as a plan in TOML, but for secrets, and send nothing; 'torr plan.toml' runs it
    #[arg(long, help_heading = "Output")]
    pub print_plan: bool,
}

impl PressArgs {
    /// Takes the words after the URL of a script, which are the script's arguments.
    pub fn take_arguments(&mut self) -> Vec<String> {
        let has_arguments = self.script.script.is_some() && self.targets.len() > 1;
        if has_arguments { self.targets.split_off(1) } else { Vec::new() }
    }
}

/// Runs a plan and prints the report.
pub fn run(args: &PressArgs, plan: &Plan) -> Result<ExitCode, CliError> {
    run_with(args, plan, None, Outputs::open(&args.output)?)
}

/// A run whose outputs are open and whose load is one that can be, before anything is sent for it.
pub struct ReadyRun<'a> {
    args: &'a PressArgs,
    outputs: Outputs,
}

impl<'a> ReadyRun<'a> {
    /// Finds the mistakes of the load, whatever it is sent to, and opens the outputs.
    ///
    /// # Errors
    /// For flags that exclude each other, and outputs that cannot be written.
    pub fn of(args: &'a PressArgs) -> Result<Self, CliError> {
        check(args)?;
        Ok(Self { args, outputs: Outputs::open(&args.output)? })
    }

    /// Runs a plan, of which only how hard to press is left to say, and prints the report.
    pub fn run(self, base: Plan) -> Result<ExitCode, CliError> {
        let plan = with_load(self.args, base)?;
        run_with(self.args, &plan, None, self.outputs)
    }
}

/// Runs a plan whose requests a script makes, and prints the report.
pub fn run_script(args: &PressArgs, plan: Plan, path: &Path, arguments: &[String]) -> Result<ExitCode, CliError> {
    let variables = args.session.variables.values(&mut Input::default())?.into_iter().collect();
    let outputs = Outputs::open(&args.output)?;
    let secrets = args.session.variables.secrets().collect();
    let words = ScriptWords { path, arguments, variables, secrets, printing: printing(args) };
    let (script, plan) = scripted(args, plan, words)?;
    run_with(args, &plan, Some(script), outputs)
}

/// What a command line, or a message, says of a script.
pub struct ScriptWords<'a> {
    pub path: &'a Path,
    pub arguments: &'a [String],
    pub variables: Vec<(String, String)>,
    /// Values that no output shows.
    pub secrets: Vec<String>,
    pub printing: Printing,
}

/// Returns a script, and the plan whose requests it makes.
///
/// # Errors
/// If the script ends in an error, or does not go with the plan.
pub fn scripted(args: &PressArgs, plan: Plan, words: ScriptWords<'_>) -> Result<(Script, Plan), CliError> {
    let settings = ScriptSettings {
        path: words.path,
        files: &args.request.files,
        arguments: words.arguments,
        variables: words.variables,
        secrets: words.secrets,
        feeder: args.request.records()?,
        feeder_order: args.request.feeder_order.into(),
        printing: words.printing,
        find: Box::new(finder(&args.transport)),
    };
    let script = Script::load(&plan, settings)?;
    let plan = script.plan(plan);
    if plan.work.users().is_some() && (plan.inspection.follow || !plan.inspection.checks.is_empty()) {
        let hint = "its own code sees each response";
        return Err(CliError::Usage(format!("--follow and --expect-... do not go with this script ({hint})")));
    }
    Ok((script, plan))
}

/// Runs a script that names its target itself, and prints the report.
pub fn run_script_file(args: &PressArgs, path: &Path) -> Result<ExitCode, CliError> {
    let url = script::target(path, &args.request.files, printing(args))?;
    run_script(args, plan(args, Some(&url))?, path, &[])
}

/// Returns where the text goes that a script prints.
pub fn printing(args: &PressArgs) -> Printing {
    let takes_stdout = args.output.files().any(|(_, path)| sink::is_stdout(path));
    if takes_stdout { Printing::Stderr } else { Printing::Stdout }
}

fn run_with(args: &PressArgs, plan: &Plan, script: Option<Script>, mut outputs: Outputs) -> Result<ExitCode, CliError> {
    args.output.check(&entries(plan))?;
    let stop = interrupt::flag()?;
    outputs.begin(&plan.target.url)?;
    if let Some(requests) = plan.work.requests() {
        unused::note(&args.request, &args.transport, plan, requests);
    }
    ports::warn(plan);
    let watched = WatchedRun::start(args.live, &args.dashboard, plan, &stop)?;
    let has_screen = watched.as_ref().is_some_and(WatchedRun::has_screen);
    let has_line = !has_screen && !args.output.quiet && std::io::stderr().is_terminal();
    let line = LiveProgress::new(plan.duration, has_line);
    let watch = |progress: &Progress| {
        line.progress(progress);
        outputs.progress(progress);
    };
    let run = match watched {
        Some(watched) => watched.press(&stop, watch).map_err(why_not),
        None => press(plan, &stop, watch).map(|run| (run, None)),
    };
    line.clear();
    match run {
        Ok((mut run, dashboard)) => {
            let outcome = Script::outcome(&run);
            let code = outputs.finish(&mut run);
            if let Some(dashboard) = dashboard {
                dashboard.finish(run.result);
            }
            let failed = match script {
                Some(script) => script.finish(outcome)?,
                None => {
                    exit::failed(&plan.work.users().and_then(|users| users.error()).into_iter().collect::<Vec<_>>())
                }
            };
            Ok(failed.unwrap_or(code))
        }
        Err(stop) => Err(outputs.give_up(&plan.target.url, stop)),
    }
}

/// Returns the names of the entries of a plan, none for a URL.
pub fn entries(plan: &Plan) -> Vec<EntryName> {
    let users = plan.work.users().filter(|users| users.has_sessions());
    users.map_or_else(Vec::new, |users| users.entries())
}

/// One run with its verdict.
pub fn press(plan: &Plan, stop: &AtomicBool, mut watch: impl FnMut(&Progress)) -> Result<Measurement, CliError> {
    let mut run = torr_press::run(plan, stop, |progress| watch(&progress)).map_err(why_not)?;
    run.result.verdict = Some(judge(&run.result));
    Ok(run)
}

/// Why there was no run, to the user.
pub fn why_not(error: RunError) -> CliError {
    match error {
        RunError::Unreachable { .. } => CliError::Unreachable(error.to_string()),
        RunError::Files { .. } => CliError::Usage(error.to_string()),
        RunError::System(_) => CliError::Failed(error.to_string()),
    }
}

/// Returns the plan of a command line for a URL.
pub fn plan(args: &PressArgs, url: Option<&str>) -> Result<Plan, CliError> {
    let keep_alive = !args.load.no_keepalive;
    with_load(args, base(&args.request, &args.transport, url, keep_alive)?)
}

/// Finds the mistakes of a load and its checks, whatever the load is sent to.
///
/// # Errors
/// For flags that exclude each other, and checks that are none.
pub fn check(args: &PressArgs) -> Result<(), CliError> {
    check_load(args)?;
    args.checks.inspection().map(drop)
}

/// Finds the mistakes of a load that do not depend on what is sent.
fn check_load(args: &PressArgs) -> Result<(), CliError> {
    let load = &args.load;
    if load.max_rate.is_some() && matches!(load.pace(), Pace::Open(..)) {
        return Err(CliError::Usage(
            "--max-rate is for closed loops: the rate of an open loop is what it is told".into(),
        ));
    }
    if let Some(stages) = &load.stages {
        check_stages(load, stages)?;
    }
    Ok(())
}

/// Refuses flags that stages leave without effect.
fn check_stages(load: &LoadArgs, stages: &Stages) -> Result<(), CliError> {
    let length = stages.length();
    if let Some(duration) = load.duration.filter(|duration| *duration > length) {
        let [duration, length] = [duration, length].map(humantime::format_duration);
        return Err(CliError::Usage(format!(
            "-d {duration} is longer than --stages, which end after {length}: leave out -d, or add a stage"
        )));
    }
    let Stages::Connections(_) = stages else { return Ok(()) };
    let given = [
        ("-c", load.connections.is_some()),
        ("--max-connections", load.max_connections.is_some()),
        ("--coalesce", load.coalesce.is_some()),
        ("--arrivals", load.arrivals != ArrivalsArg::Constant),
    ];
    match given.iter().find(|(_, is_given)| *is_given) {
        Some((flag, _)) => {
            let why = "stages of connections say how many there are, and are a closed loop";
            Err(CliError::Usage(format!("{flag} does not go with --stages of connections: {why}")))
        }
        None => Ok(()),
    }
}

/// Returns a plan with the load of a command line.
pub fn with_load(args: &PressArgs, base: Plan) -> Result<Plan, CliError> {
    check_load(args)?;
    let load = &args.load;
    let (pace, depth) = (load.pace(), load.pipeline.unwrap_or(base.depth));
    if load.think.is_some() && base.work.users().is_none() && matches!(pace, Pace::Open(..)) {
        return Err(CliError::Usage(
            "--think is for closed loops: in an open loop requests are due at their times".into(),
        ));
    }
    let inspection = args.checks.inspection()?;
    if base.protocol.http2 && inspection.follow {
        return Err(CliError::Usage("--follow goes with HTTP/1.1 only".into()));
    }
    if matches!(pace, Pace::Closed { connections: Some(_), .. }) && depth > 1 {
        return Err(CliError::Usage(
            "stages of connections go with one request at a time on each: leave out --pipeline and --streams".into(),
        ));
    }
    let endless = load.requests.is_none() && load.stages.is_none();
    Ok(Plan {
        inspection,
        pace,
        connections: load.connections(),
        depth,
        threads: load.threads.unwrap_or(base.threads),
        duration: load.duration.or(endless.then_some(DURATION)),
        requests: load.requests,
        warmup: load.warmup.unwrap_or_default(),
        think: load.think.clone(),
        requests_per_connection: load.requests_per_connection,
        timeout: load.timeout,
        coalesce: load.coalesce.unwrap_or(base.coalesce),
        timestamps: load.timestamps.into(),
        quick_ack: load.quick_ack,
        ..base
    })
}

/// What is sent, and the way there: a plan of which only how hard to press is left to say. It has a thread for each CPU.
pub fn base(
    request: &RequestArgs,
    transport: &TransportArgs,
    url: Option<&str>,
    keep_alive: bool,
) -> Result<Plan, CliError> {
    base_and_options(request, transport, url, keep_alive).map(|(plan, _)| plan)
}

/// Returns the plan, and the options that its requests were made of.
pub fn base_and_options(
    request: &RequestArgs,
    transport: &TransportArgs,
    url: Option<&str>,
    keep_alive: bool,
) -> Result<(Plan, Options), CliError> {
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
