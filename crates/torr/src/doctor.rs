//! `torr doctor URL`: from the command line to an assignment, and from the diagnosis to the screen.

mod agents;
mod args;
mod assignment;
mod compare;
mod outcome;
mod progress;
mod render;
mod written;

use crate::base::Base;
use crate::exit::{self, CliError};
use crate::fleet::{FleetOf, StepLoad, Steps};
use crate::interrupt;
use crate::output;
use crate::own_server::{self, Server};
use crate::press::servers;
use crate::report;
use agents::FleetAgents;
pub use args::DoctorArgs;
use assignment::{assignment, base, remote};
use outcome::write;
pub use outcome::{halted, put};
pub use progress::Shown;
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, PoisonError};
use torr_doctor::locate::{Locator, Login, ServerSurvey};
use torr_doctor::remote::{RemoteWatch, Source};
use torr_doctor::{Agents, Assignment, Diagnosis, Halt, Instruments, Observer, diagnose};
use torr_gauge::machine::cpus;
use torr_load::{FileSource, FilesByPath};
use torr_press::Plan;
use written::WrittenDiagnosis;

/// The experiments that a session does not allow.
const SESSIONS_VARY: &str = "torr doctor varies only connections, rate and pauses of sessions: it tries no HEAD, compression or other \
                             HTTP version, since these would change the requests";

/// The variable that has the login of the service's database.
const DATABASE_URL: &str = "TORR_DATABASE_URL";

/// Examines the service and prints the diagnosis.
pub fn run(mut args: DoctorArgs) -> Result<ExitCode, CliError> {
    if args.compare.is_requested() {
        return compare::run(&args);
    }
    let kept = Arc::default();
    if args.through.fleet.is_some() {
        // What the load names is sent to the agents.
        args.load.take_files_from(&FileSource::Kept(Arc::clone(&kept)));
    }
    let args = &args;
    let fleet = args.through.fleet()?;
    let (json, page) = report::open_beside(args.json.as_deref(), args.report.as_deref())?;
    assignment::check(args)?;
    if fleet.is_some() {
        Steps::check(&args.load())?;
    }
    let base = base(args, &args.load())?;
    let agents = match &fleet {
        Some(fleet) => {
            let files = kept.lock().unwrap_or_else(PoisonError::into_inner).clone();
            Some(FleetAgents(steps(args, fleet, &base, files)?))
        }
        None => None,
    };
    let Base { plan, options, script, k6, .. } = base;
    let assignment = assignment(args, plan, options, agents.as_ref().map(Agents::count))?;
    if assignment.plan.work.users().is_some() {
        output::note(SESSIONS_VARY);
        servers::note(&assignment.plan, "torr doctor");
    }
    let stop = interrupt::flag()?;
    let remote = remote(args, assignment.plan.target.port)?;
    let shown = Shown::new(assignment.budget, !args.quiet);
    let logins_from_environment = args.database_from_env;
    let survey = ServerSurvey { asking: args.ask, logins: logins(args)?, logins_from_environment };
    let locator = (!args.no_where).then_some(&survey as &dyn Locator);
    let found = examine(&assignment, remote.as_ref(), agents.as_ref(), locator, &stop, &mut |step| shown.step(step));
    shown.clear();
    if let Some(code) = Base::scripts_failed(script.as_ref(), k6) {
        return Ok(code);
    }
    let diagnosis = match found {
        Ok(diagnosis) => WrittenDiagnosis::of(diagnosis),
        Err(halt) => return halted(halt, "the first experiment"),
    };
    match page {
        Some(page) if page.takes_stdout() => {
            json.map_or(Ok(()), |json| write(&diagnosis, json))?;
            report::put(&diagnosis, page).map_err(CliError::Failed)?;
        }
        page => {
            let written = page.map(|page| report::put(&diagnosis, page));
            put(&diagnosis, json, || render::text(&diagnosis))?;
            written.transpose().map_err(CliError::Failed)?;
        }
    }
    Ok(if diagnosis.diagnosis.interrupted { exit::interrupted() } else { ExitCode::SUCCESS })
}

/// Returns the login of the service's database, from the command line or the environment.
fn logins(args: &DoctorArgs) -> Result<Vec<Login>, CliError> {
    let url = args.database_url.clone().or_else(|| std::env::var(DATABASE_URL).ok()).filter(|url| !url.is_empty());
    let login = url.map(|url| Login::parse(&url).map_err(|error| CliError::Usage(format!("--database-url: {error}"))));
    Ok(login.transpose()?.into_iter().collect())
}

/// Returns the runs over a fleet that the diagnosis makes.
fn steps(args: &DoctorArgs, fleet: &FleetOf<'_>, base: &Base, files: FilesByPath) -> Result<Steps, CliError> {
    let load = StepLoad { load: args.load(), base, files, threads: args.threads };
    Steps::of(fleet, load)
}

/// Examines an assignment with all instruments that there are here, by the load of agents or of this program.
pub fn examine(
    assignment: &Assignment,
    remote: Option<&RemoteWatch>,
    agents: Option<&FleetAgents>,
    locator: Option<&dyn Locator>,
    stop: &AtomicBool,
    tell: &mut dyn FnMut(torr_doctor::ExperimentStart<'_>),
) -> Result<Diagnosis, Halt> {
    // Without a null service some evidence is missing, nothing more.
    let server = if agents.is_none() { Server::start(cpus(), &[]).ok() } else { None };
    let null = server.as_ref().map(|server| {
        // It does nothing but respond with a body of this size.
        move |body: u64| own_server::get(&server.url(&format!("/bytes/{}", body.min(1 << 20))), true)
    });
    let null = null.as_ref().map(|null| null as &dyn Fn(u64) -> Result<Plan, Halt>);
    let watcher = if remote.is_none() { assignment.plan.watcher() } else { None };
    let here = watcher.as_ref().map(|watcher| watcher as &dyn Observer);
    let observer = remote.map(|remote| remote as &dyn Observer).or(here);
    let agents = agents.map(|agents| agents as &dyn Agents);
    // Processes are sampled on their own machine.
    let locator = match remote {
        Some(remote) => locator.and((remote.source() == Source::TorrWatch).then_some(remote as &dyn Locator)),
        None => locator.filter(|_| here.is_some()),
    };
    diagnose(assignment, &Instruments { observer, null, agents, locator }, stop, tell)
}
