//! `torr URL`: from the command line to a plan, and from the result to the screen.

use crate::cli::PressArgs;
use crate::exit::{self, Stop};
use crate::interrupt;
use crate::output::{self, JsonSink};
use std::io::{IsTerminal, Read};
use std::net::{IpAddr, SocketAddr};
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use torr_gauge::RunResult;
use torr_gauge::collector::Progress;
use torr_net::address;
use torr_press::{Plan, Request, RunError, Target};
use torr_report::live::Live;
use torr_report::text;

/// How long a run takes if nobody says.
const DURATION: Duration = Duration::from_secs(10);

/// Presses the URL and prints the report.
pub fn run(args: &PressArgs) -> Result<ExitCode, Stop> {
    let plan = plan(args)?;
    let json = args.json.as_deref().map(JsonSink::open).transpose()?;
    let stop = interrupt::flag()?;
    let live = Live::new(plan.duration, !args.quiet && std::io::stderr().is_terminal());
    let result = press(&plan, &stop, |progress| live.progress(progress));
    live.clear();
    let result = result?;
    if !json.as_ref().is_some_and(JsonSink::takes_stdout) {
        output::print(&text::report(&result));
    }
    if let Some(json) = json {
        json.write(&torr_report::json(&result).map_err(|error| Stop::Failed(error.to_string()))?)?;
    }
    Ok(if result.interrupted { exit::interrupted() } else { ExitCode::SUCCESS })
}

/// One run with its verdict.
pub fn press(plan: &Plan, stop: &AtomicBool, mut watch: impl FnMut(&Progress)) -> Result<RunResult, Stop> {
    let mut result = torr_press::run(plan, stop, |progress| watch(&progress)).map_err(|error| match error {
        RunError::Unreachable { .. } => Stop::Unreachable(error.to_string()),
        RunError::Files { .. } => Stop::Usage(error.to_string()),
        RunError::System(_) => Stop::Failed(error.to_string()),
    })?;
    result.verdict = Some(torr_doctor::passive(&result));
    Ok(result)
}

fn plan(args: &PressArgs) -> Result<Plan, Stop> {
    let usage = |error: torr_press::PlanError| Stop::Usage(error.to_string());
    let target = Target::parse(args.url()).map_err(usage)?;
    let body = args.data.as_deref().map(body).transpose()?;
    let method = args.method.as_deref().unwrap_or(if body.is_some() { "POST" } else { "GET" });
    let mut headers = args.headers.clone();
    let is_typed = headers.iter().any(|h| h.to_ascii_lowercase().starts_with("content-type:"));
    if body.is_some() && !is_typed {
        headers.push("Content-Type: application/x-www-form-urlencoded".into());
    }
    let keep_alive = !args.no_keepalive;
    let request = Request::new(&target, method, &headers, body.as_deref(), keep_alive).map_err(usage)?;
    let addresses = address::resolve(&target.host, target.port)
        .map_err(|_| Stop::Unreachable(format!("the name '{}' does not resolve", target.host)))?;
    check_sources(&args.bind, &addresses)?;
    Ok(Plan {
        target,
        addresses,
        sources: args.bind.clone(),
        request,
        connections: args.connections,
        threads: args.threads.unwrap_or_else(cpus),
        duration: args.duration.or((args.requests.is_none() && args.stages.is_none()).then_some(DURATION)),
        requests: args.requests,
        schedule: args.schedule(),
        keep_alive,
        timeout: args.timeout,
    })
}

/// Source addresses must be this machine's, and of the target's family.
fn check_sources(sources: &[IpAddr], addresses: &[SocketAddr]) -> Result<(), Stop> {
    for source in sources {
        if !address::is_local(*source) {
            return Err(Stop::Usage(format!("cannot connect from {source}: it is no address of this machine")));
        }
        if let Some(other) = addresses.iter().find(|to| to.is_ipv4() != source.is_ipv4()) {
            return Err(Stop::Usage(format!("cannot connect from {source} to {}: one is IPv4, one IPv6", other.ip())));
        }
    }
    Ok(())
}

/// CPUs that this process may use.
pub fn cpus() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// The body that `--data` means, as with curl.
fn body(data: &str) -> Result<Vec<u8>, Stop> {
    let Some(path) = data.strip_prefix('@') else { return Ok(data.as_bytes().to_vec()) };
    let read = if path == "-" {
        let mut bytes = Vec::new();
        std::io::stdin().read_to_end(&mut bytes).map(|_| bytes)
    } else {
        std::fs::read(path)
    };
    read.map_err(|error| Stop::Usage(format!("cannot read the body from '{path}': {error}")))
}
