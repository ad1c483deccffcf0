//! `torr URL`: from the command line to a plan, and from the result to the screen.

mod http2;
mod request;
mod transport;

use crate::cli::PressArgs;
use crate::exit::{self, Stop};
use crate::interrupt;
use crate::output::{self, JsonSink};
use std::io::IsTerminal;
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use torr_gauge::collector::{Measured, Progress};
use torr_net::tls::TlsSettings;
use torr_press::{Pace, Plan, PlanError, RunError, Target};
use torr_report::live::Live;
use torr_report::text;

/// How long a run takes if nobody says.
const DURATION: Duration = Duration::from_secs(10);

/// Presses the URL and prints the report.
pub fn run(args: &PressArgs) -> Result<ExitCode, Stop> {
    let plan = plan(args)?;
    let json = args.output.json.as_deref().map(JsonSink::open).transpose()?;
    let stop = interrupt::flag()?;
    let live = Live::new(plan.duration, !args.output.quiet && std::io::stderr().is_terminal());
    let run = press(&plan, &stop, |progress| live.progress(progress));
    live.clear();
    let result = run?.result;
    if !json.as_ref().is_some_and(JsonSink::takes_stdout) {
        output::print(&text::report(&result));
    }
    if let Some(json) = json {
        json.write(&torr_report::json(&result).map_err(|error| Stop::Failed(error.to_string()))?)?;
    }
    Ok(if result.interrupted { exit::interrupted() } else { ExitCode::SUCCESS })
}

/// One run with its verdict.
pub fn press(plan: &Plan, stop: &AtomicBool, mut watch: impl FnMut(&Progress)) -> Result<Measured, Stop> {
    let mut run = torr_press::run(plan, stop, |progress| watch(&progress)).map_err(|error| match error {
        RunError::Unreachable { .. } => Stop::Unreachable(error.to_string()),
        RunError::Files { .. } => Stop::Usage(error.to_string()),
        RunError::System(_) => Stop::Failed(error.to_string()),
    })?;
    run.result.verdict = Some(torr_doctor::passive(&run.result));
    Ok(run)
}

fn plan(args: &PressArgs) -> Result<Plan, Stop> {
    let target = Target::parse(args.url()).map_err(mistake)?;
    let load = &args.load;
    let keep_alive = !load.no_keepalive;
    let request = request::request(&args.request, &target, keep_alive)?;
    let (addresses, sources) = transport::addresses(&args.transport, &target)?;
    let tls = target.tls.then(|| TlsSettings::new(target.host.as_str()));
    if load.think.is_some() && matches!(load.pace(), Pace::Open(..)) {
        return Err(Stop::Usage("--think is for closed loops: in an open loop requests are due at their times".into()));
    }
    let endless = load.requests.is_none() && load.stages.is_none();
    Ok(Plan {
        sources,
        protocol: http2::protocol(&args.transport.http2, tls)?,
        pace: load.pace(),
        connections: load.connections(),
        depth: load.pipeline.or(args.transport.http2.streams).unwrap_or(1),
        threads: load.threads.unwrap_or_else(cpus),
        duration: load.duration.or(endless.then_some(DURATION)),
        requests: load.requests,
        warmup: load.warmup.unwrap_or_default(),
        think: load.think.clone(),
        keep_alive,
        requests_per_connection: load.requests_per_connection,
        timeout: load.timeout,
        ..Plan::new(target, addresses, request)
    })
}

fn mistake(error: PlanError) -> Stop {
    Stop::Usage(error.to_string())
}

/// CPUs that this process may use.
pub fn cpus() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}
