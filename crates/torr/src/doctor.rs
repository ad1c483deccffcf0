//! `torr doctor URL`: from the command line to an assignment, and from the diagnosis to the screen.

mod args;
mod assignment;
mod compare;
mod outcome;
mod progress;
mod render;

use crate::exit::Stop;
use crate::interrupt;
use crate::output;
use crate::own_server::Server;
use crate::press::cpus;
use crate::sink::Sink;
pub use args::DoctorArgs;
use assignment::{assignment, plan, remote};
use outcome::{halted, put};
use progress::Shown;
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;
use torr_doctor::remote::RemoteWatch;
use torr_doctor::{Assignment, Diagnosis, Halt, Instruments, Observer, diagnose};
use torr_net::address;
use torr_press::{Plan, Requests, Target};

/// The experiments that a session does not allow.
const SESSIONS_VARY: &str = "of a session only connections, rate and pauses are varied: HEAD, compression and other versions are not \
                             tried, since each would be another request";

/// Examines the service and prints the diagnosis.
pub fn run(args: &DoctorArgs) -> Result<ExitCode, Stop> {
    if args.compare.is_asked_for() {
        return compare::run(args);
    }
    let url = args.url.as_deref().unwrap_or_default();
    let (plan, options) = plan(args, &args.transport, url, !args.no_keepalive)?;
    let assignment = assignment(args, plan, options)?;
    if assignment.plan.users.is_some() {
        output::note(SESSIONS_VARY);
    }
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

/// A service that does nothing but answer with a body of this size.
fn null(server: &Server, body: u64) -> Result<Plan, Halt> {
    let target = Target::parse(&server.url(&format!("/bytes/{}", body.min(1 << 20))))?;
    let request = Requests::get(&target, true)?;
    let addresses = address::resolve(&target.host, target.port).unwrap_or_default();
    Ok(Plan::new(target, addresses.into_iter().map(Into::into).collect(), request))
}
