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
use crate::steps::StepViews;
use agents::FleetAgents;
pub use args::DoctorArgs;
use assignment::{assignment, base, remote};
pub use outcome::{halted, put, write};
pub use progress::Shown;
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, PoisonError};
use torr_doctor::locate::{Locator, Login, ServerSurvey};
use torr_doctor::remote::{RemoteWatch, Source};
use torr_doctor::{
    Agents, Assignment, Diagnosis, ExperimentStart, Halt, Instruments, NullContent, Observer, StreamKind, Watch,
    diagnose,
};
use torr_gauge::collector::Progress;
use torr_gauge::machine::cpus;
use torr_live::About;
use torr_load::{FileSource, FilesByPath, StreamPart};
use torr_press::Plan;
use torr_report::human::micros;
use torr_report::sentence;
use written::WrittenDiagnosis;

/// The experiments that a session does not allow.
const SESSIONS_VARY: &str = "torr doctor varies only connections, rate and pauses: it tries no HEAD, compression or other \
                             HTTP version, since these would change the requests";

/// The experiments that streams of events do not allow.
const STREAMS_VARY: &str = "torr doctor varies only the number of streams: it leaves out what is about single responses, such as pauses, \
                            acknowledgements, keep-alive, HEAD and compression";

/// The experiments that streams of messages do not allow.
const MESSAGES_VARY: &str = "torr doctor varies only the number of streams: it leaves out what is about single responses, other requests \
                             to the server, and the comparison with a service that does nothing";

/// The variable that has the login of the service's database.
const DATABASE_URL: &str = "TORR_DATABASE_URL";

/// The limits of the content of a service that does nothing: bytes, events, and the milliseconds between two of them.
const MOST_BYTES: u64 = 1 << 20;
const MOST_EVENTS: u64 = 1_000_000;
const LONGEST_GAP_MS: u64 = 3_600_000;

/// Examines the service and prints the diagnosis.
pub fn run(mut args: DoctorArgs) -> Result<ExitCode, CliError> {
    if args.compare.is_requested() {
        if args.views.are_wanted() {
            return Err(CliError::Usage(
                "--live and --dashboard show a diagnosis: drop them, or --sweep, --via, --tls or --paths".into(),
            ));
        }
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
    match StreamKind::of(&assignment.plan) {
        Some(StreamKind::Events) => output::note(STREAMS_VARY),
        Some(StreamKind::Messages) => output::note(MESSAGES_VARY),
        None => {}
    }
    let stop = interrupt::flag()?;
    let remote = remote(args, assignment.plan.target.port)?;
    let about = About {
        name: "the diagnosis",
        step: "experiment",
        target: assignment.plan.target.shown().into_owned(),
        words: format!("a diagnosis by experiments, at most {}", micros(assignment.budget.as_secs_f64() * 1e6)),
        budget_s: assignment.budget.as_secs_f64(),
    };
    let mut views = StepViews::open(&args.views, &about, &stop)?;
    let shown = Shown::new(assignment.budget, !args.quiet && !views.has_screen());
    let logins_from_environment = args.database_from_env;
    let survey = ServerSurvey { asking: args.ask, logins: logins(args)?, logins_from_environment };
    let locator = (!args.no_where).then_some(&survey as &dyn Locator);
    let watch = |progress: &Progress| views.progress(progress);
    let mut tell = |step: ExperimentStart<'_>| {
        views.begins(&sentence::experiment(step.label), sentence::question(step.label));
        shown.step(step);
    };
    let found = examine(&assignment, remote.as_ref(), agents.as_ref(), locator, Some(&watch), &stop, &mut tell);
    views.close_screen();
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
    views.finish(&diagnosis);
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
    watch: Option<&Watch<'_>>,
    stop: &AtomicBool,
    tell: &mut dyn FnMut(ExperimentStart<'_>),
) -> Result<Diagnosis, Halt> {
    // Without a null service some evidence is missing, nothing more.
    let server = if agents.is_none() { Server::start(cpus(), &[]).ok() } else { None };
    let null = server.as_ref().map(|server| {
        // It does nothing but respond with a body of this size, or with events at this pace.
        move |content: NullContent| match content {
            NullContent::Bytes(bytes) => {
                own_server::get(&server.url(&format!("/bytes/{}", bytes.min(MOST_BYTES))), true)
            }
            NullContent::Events { gap_ms } => {
                let path = format!("/sse/{MOST_EVENTS}/{}", gap_ms.min(LONGEST_GAP_MS));
                let events = Some(StreamPart::default().messages());
                Ok(Plan { events, ..own_server::get(&server.url(&path), true)? })
            }
        }
    });
    let null = null.as_ref().map(|null| null as &dyn Fn(NullContent) -> Result<Plan, Halt>);
    let watcher = if remote.is_none() { assignment.plan.watcher() } else { None };
    let here = watcher.as_ref().map(|watcher| watcher as &dyn Observer);
    let observer = remote.map(|remote| remote as &dyn Observer).or(here);
    let agents = agents.map(|agents| agents as &dyn Agents);
    // Processes are sampled on their own machine.
    let locator = match remote {
        Some(remote) => locator.and((remote.source() == Source::TorrWatch).then_some(remote as &dyn Locator)),
        None => locator.filter(|_| here.is_some()),
    };
    diagnose(assignment, &Instruments { observer, null, agents, locator, watch }, stop, tell)
}
