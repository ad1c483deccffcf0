//! `torr doctor URL`: from the command line to an assignment, and from the diagnosis to the screen.

mod args;
mod compare;
mod progress;
mod render;

use crate::again;
use crate::exit::{self, Stop};
use crate::flags::transport::TransportArgs;
use crate::interrupt;
use crate::output::{self, Sink};
use crate::own_server::Server;
use crate::press::{base_and_options, cpus, permission, why_not};
pub use args::DoctorArgs;
use progress::Shown;
use serde::Serialize;
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use torr_doctor::remote::RemoteWatch;
use torr_doctor::{Assignment, Diagnosis, Halt, Instruments, Invocation, Observer, diagnose, quoted};
use torr_net::address;
use torr_press::request::Options;
use torr_press::{Plan, Requests, Target};

/// The least in which experiments mean anything.
const LEAST_BUDGET: Duration = Duration::from_secs(5);

/// Examines the service and prints the diagnosis.
pub fn run(args: &DoctorArgs) -> Result<ExitCode, Stop> {
    if args.compare.is_asked_for() {
        return compare::run(args);
    }
    let url = args.url.as_deref().unwrap_or_default();
    let (plan, options) = plan(args, &args.transport, url, !args.no_keepalive)?;
    let assignment = assignment(args, plan, options)?;
    let json = args.json.as_deref().map(Sink::open).transpose()?;
    let stop = interrupt::flag()?;
    let remote = remote(args, assignment.plan.target.port)?;
    let shown = Shown::new(assignment.budget, !args.quiet);
    let found = examine(&assignment, remote.as_ref(), &stop, &mut |step| shown.step(step));
    shown.clear();
    let diagnosis = match found {
        Ok(diagnosis) => diagnosis,
        Err(halt) => return halted(halt, "a diagnosis"),
    };
    put(&diagnosis, json, || render::text(&diagnosis))?;
    Ok(ExitCode::SUCCESS)
}

/// Why there is nothing to tell.
fn halted(halt: Halt, what: &str) -> Result<ExitCode, Stop> {
    match halt {
        Halt::Interrupted => {
            output::note(&format!("interrupted before there was {what}"));
            Ok(exit::interrupted())
        }
        Halt::Run(error) => Err(why_not(error)),
        Halt::Silent(line) => Err(Stop::Unreachable(line)),
        halt => Err(Stop::usage(halt)),
    }
}

/// Writes what came of it as JSON where that is wanted, and as text unless JSON has taken standard output.
fn put(found: &impl Serialize, json: Option<Sink>, text: impl FnOnce() -> String) -> Result<(), Stop> {
    let stdout_is_taken = json.as_ref().is_some_and(Sink::takes_stdout);
    if let Some(json) = json {
        let text = serde_json::to_string_pretty(found).map_err(|error| Stop::Failed(error.to_string()))?;
        json.put(&text).map_err(Stop::Failed)?;
    }
    if !stdout_is_taken {
        output::report(&text());
    }
    Ok(())
}

/// Examines an assignment with all instruments that there are here.
pub fn examine(
    assignment: &Assignment,
    remote: Option<&RemoteWatch>,
    stop: &AtomicBool,
    tell: &mut dyn FnMut(torr_doctor::ExperimentStart<'_>),
) -> Result<Diagnosis, Halt> {
    // Without a server of our own there is nothing to compare with, which costs some evidence only.
    let server = Server::start(cpus(), &[]).ok();
    let null = server.as_ref().map(|server| move |body: u64| null(server, body));
    let null = null.as_ref().map(|null| null as &dyn Fn(u64) -> Result<Plan, Halt>);
    let watcher = if remote.is_none() { assignment.plan.watcher() } else { None };
    let here = watcher.as_ref().map(|watcher| watcher as &dyn Observer);
    let observer = remote.map(|remote| remote as &dyn Observer).or(here);
    diagnose(assignment, &Instruments { observer, null }, stop, tell)
}

/// The server's machine, where the user says how it is asked.
fn remote(args: &DoctorArgs, port: u16) -> Result<Option<RemoteWatch>, Stop> {
    let Some(address) = &args.watch else { return Ok(None) };
    let token = args.watch_token.clone().or_else(|| std::env::var("TORR_WATCH_TOKEN").ok());
    RemoteWatch::connect(address, token.as_deref(), port)
        .map(Some)
        .map_err(|error| Stop::Unreachable(error.to_string()))
}

/// A service that does nothing but answer with a body of this size.
fn null(server: &Server, body: u64) -> Result<Plan, Halt> {
    let target = Target::parse(&server.url(&format!("/bytes/{}", body.min(1 << 20))))?;
    let request = Requests::get(&target, true)?;
    let addresses = address::resolve(&target.host, target.port).unwrap_or_default();
    Ok(Plan::new(target, addresses.into_iter().map(Into::into).collect(), request))
}

/// How a URL is loaded, if it may be.
fn plan(args: &DoctorArgs, transport: &TransportArgs, url: &str, keep_alive: bool) -> Result<(Plan, Options), Stop> {
    if args.request.urls.is_some() {
        return Err(Stop::Usage("torr doctor examines one URL at a time: leave out --urls".into()));
    }
    let (plan, options) = base_and_options(&args.request, transport, Some(url), keep_alive)?;
    permission::ask(&plan, args.i_own_this, "torr doctor")?;
    let threads = args.threads.unwrap_or(plan.threads);
    Ok((Plan { connections: args.connections, threads, ..plan }, options))
}

/// What was given, for the commands that are printed.
fn again(args: &DoctorArgs) -> Invocation {
    let mut again = again::invocation(&args.given, args.url.as_deref());
    let flag = |name: &str, value: Option<String>| (name.to_owned(), value.map(|value| quoted(&value)));
    let load = [
        args.threads.map(|threads| flag("-t", Some(threads.to_string()))),
        args.no_keepalive.then(|| flag("--no-keepalive", None)),
        args.max_rate.map(|rate| flag("--max-rate", Some(rate.to_string()))),
    ];
    again.load = load.into_iter().flatten().collect();
    let budget = (args.budget != DoctorArgs::BUDGET).then(|| format!("{}s", args.budget.as_secs_f64()));
    let own = [
        budget.map(|budget| flag("--budget", Some(budget))),
        args.max_connections.map(|most| flag("--max-connections", Some(most.to_string()))),
        args.i_own_this.then(|| flag("--i-own-this", None)),
        args.watch.as_ref().map(|address| flag("--watch", Some(address.clone()))),
    ];
    again.doctor = own.into_iter().flatten().collect();
    if args.watch_token.is_some() {
        // The variable is looked at where the flag is not given.
        again.variables.push(("TORR_WATCH_TOKEN".into(), "--watch-token".into()));
    }
    again
}

fn assignment(args: &DoctorArgs, plan: Plan, options: Options) -> Result<Assignment, Stop> {
    if args.budget < LEAST_BUDGET {
        return Err(Stop::Usage(format!(
            "a budget of {:?} is too short to tell anything: give at least 5s",
            args.budget
        )));
    }
    if args.max_connections.is_some_and(|most| most < args.connections) {
        return Err(Stop::Usage("--max-connections is below -c: lower -c as well".into()));
    }
    Ok(Assignment {
        again: again(args),
        plan,
        options,
        budget: args.budget,
        max_rate: args.max_rate,
        max_connections: args.max_connections.unwrap_or(2 * args.connections),
    })
}
