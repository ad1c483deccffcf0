//! `torr demo`: starts the server, loads it as the source documents do, and shows the figures of both sides.

mod reference;
mod render;
mod result;

use crate::command_line::Repeatable;
use crate::doctor;
use crate::exit::{self, CliError};
use crate::interrupt;
use crate::output;
use crate::own_server::{self, Server};
use crate::press;
use crate::report;
use crate::service::EMBEDDED;
use crate::sink::Sink;
use clap::Args;
use result::{Demo, QUERY_CONNECTIONS, Row, Setting};
use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use torr_data::DatabaseKind;
use torr_doctor::{Assignment, ExperimentStart, Invocation};
use torr_gauge::machine::cpus;
use torr_gauge::{Machine, RunResult, Verdict};
use torr_press::Plan;
use torr_press::request::Options;
use torr_report::live::LiveProgress;
use torr_report::sentence;

/// `torr demo`.
#[derive(Debug, Args)]
pub struct DemoArgs {
    /// Measure each setting for 1.2 seconds instead of 6
    #[arg(long)]
    pub quick: bool,
    /// Use this database, as 'torr serve' does; Torr creates and fills missing tables
    #[arg(long, value_name = "URL", default_value = EMBEDDED, hide_default_value = true)]
    pub database: String,
    /// Write all figures as JSON; '-' writes them to standard output, and nothing else
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Write a report as one HTML page
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
}

/// The number of rounds: each setting is measured once in each, so that what disturbs the machine for a while spoils one of its figures.
const ROUNDS: u32 = 3;
/// The length of one measurement.
const EACH: Duration = Duration::from_secs(2);
const EACH_QUICK: Duration = Duration::from_millis(400);
/// How long the doctor may take at the end.
const BUDGET: Duration = Duration::from_secs(12);
const BUDGET_QUICK: Duration = Duration::from_secs(5);

/// The page, by connections and whether they are kept alive.
const HELLO: [(usize, bool); 4] = [(100, true), (1000, true), (100, false), (1000, false)];
/// A row of 100,000 by each way, over connections kept alive and not.
const QUERIES: [&str; 3] = ["raw", "builder", "model"];
/// All of them, in their order.
fn settings() -> Vec<Setting> {
    let hello = |(connections, keep_alive)| Setting {
        name: format!("{connections} connections, {}", if keep_alive { "keep-alive" } else { "no keep-alive" }),
        path: "/".into(),
        connections,
        keep_alive,
        references: reference::hello(connections, keep_alive),
    };
    let query = |(way, keep_alive): (&str, bool)| Setting {
        name: if keep_alive { way.into() } else { format!("{way}, no keep-alive") },
        path: format!("/db/{way}"),
        connections: QUERY_CONNECTIONS,
        keep_alive,
        references: reference::query(way, keep_alive),
    };
    let queries = [true, false].into_iter().flat_map(|keep_alive| QUERIES.map(|way| (way, keep_alive)));
    HELLO.into_iter().map(hello).chain(queries.map(query)).collect()
}

/// Runs the demo and prints its table.
pub fn run(args: &DemoArgs) -> Result<ExitCode, CliError> {
    let database = database(&args.database)?;
    let (json, page) = report::open_beside(args.json.as_deref(), args.report.as_deref())?;
    let stop = interrupt::flag()?;
    let workers = cpus();
    let (each, budget) = if args.quick { (EACH_QUICK, BUDGET_QUICK) } else { (EACH, BUDGET) };
    let live = LiveProgress::new(Some(each * ROUNDS * settings().len() as u32), true);
    live.begin(0.0, "the server starts, with a database of 100,000 rows");
    let server = Server::start(workers, &["--database", &args.database]).inspect_err(|_| live.clear())?;
    let rows = press_all(&server, each, &live, &stop);
    live.clear();
    let mut rows = rows?;
    let diagnosed = diagnose(&server, budget, again(&args.database, workers), &stop)?;
    drop(server);
    let verdict = agree(&mut rows, diagnosed);
    let demo = Demo {
        schema: "torr.demo/1",
        torr: env!("CARGO_PKG_VERSION"),
        machine: Machine::this(),
        workers,
        database,
        verdict,
        rows,
    };
    if ![&json, &page].into_iter().flatten().any(Sink::takes_stdout) {
        output::report(&render::text(&demo, args.json.as_deref()));
    }
    if let Some(json) = json {
        let text = Repeatable::new(&demo).json().map_err(|error| CliError::Failed(error.to_string()))?;
        json.put(&text).map_err(CliError::Failed)?;
    }
    if let Some(page) = page {
        report::put(&demo, page).map_err(CliError::Failed)?;
    }
    Ok(if stop.load(Ordering::Relaxed) { exit::interrupted() } else { ExitCode::SUCCESS })
}

/// Names the kind of database of a URL, and nothing else of it: it may hold a password.
fn database(url: &str) -> Result<String, CliError> {
    let kind = DatabaseKind::of(url).map_err(|error| CliError::Usage(format!("cannot use the database: {error}")))?;
    Ok(if url == EMBEDDED { format!("embedded {kind}") } else { kind.to_string() })
}

fn press_all(server: &Server, each: Duration, live: &LiveProgress, stop: &AtomicBool) -> Result<Vec<Row>, CliError> {
    let settings = settings();
    let mut runs: Vec<Vec<RunResult>> = settings.iter().map(|_| Vec::new()).collect();
    let turns = (0..ROUNDS).flat_map(|_| 0..settings.len());
    for (number, at) in turns.enumerate() {
        let setting = &settings[at];
        let name =
            if setting.path == "/" { setting.name.clone() } else { format!("{}: {}", setting.path, setting.name) };
        let before_s = each.as_secs_f64() * number as f64;
        live.begin(before_s, &name);
        let plan = plan(server, setting, each)?;
        let run = press::press(&plan, stop, |progress| live.within(before_s, &name, progress))?;
        // What was interrupted counts only where there is nothing else.
        if !run.result.interrupted || runs[at].is_empty() {
            runs[at].push(run.result);
        }
        if stop.load(Ordering::Relaxed) {
            break;
        }
    }
    Ok(settings.into_iter().zip(runs).filter_map(|(setting, runs)| Row::of(setting, runs)).collect())
}

/// The verdict of the page, which is the first row's as well: the doctor has examined that very load, and knows more than the row.
/// Where it has not, the row's verdict stands for the page.
fn agree(rows: &mut [Row], diagnosed: Option<Verdict>) -> Option<Verdict> {
    let first = rows.first_mut()?;
    if diagnosed.is_some() {
        first.run.verdict = diagnosed;
    }
    first.run.verdict.clone()
}

/// Returns the commands that a verdict prints. The server of the demo has ended by then, so that the same server is started first, at
/// its usual address.
fn again(database: &str, workers: usize) -> Invocation {
    let mut again = Invocation { url: Some("http://127.0.0.1:8080/".into()), ..Invocation::default() };
    let mut command = format!("torr serve --workers {workers}");
    if database != EMBEDDED {
        command += &format!(" --database {}", again.variables.get_mut().value("--database", database));
    }
    Invocation { first: Some(command), ..again }
}

/// Returns what limits the page, unless the demo was interrupted.
fn diagnose(
    server: &Server,
    budget: Duration,
    again: Invocation,
    stop: &AtomicBool,
) -> Result<Option<Verdict>, CliError> {
    let page = settings().into_iter().next().expect("the first setting is the page");
    let assignment = Assignment {
        plan: plan(server, &page, budget)?,
        options: Options::default(),
        again,
        budget,
        max_rate: None,
        max_connections: 2 * page.connections,
    };
    let live = LiveProgress::new(Some(budget), std::io::stderr().is_terminal());
    let tell = &mut |step: ExperimentStart<'_>| {
        live.begin(step.spent * budget.as_secs_f64(), &format!("diagnosis: {}", sentence::experiment(step.label)))
    };
    let found = doctor::examine(&assignment, None, None, None, None, stop, tell);
    live.clear();
    match found {
        Ok(diagnosis) => Ok((!diagnosis.interrupted).then(|| sentence::verdict(diagnosis.finding))),
        // The table stands by itself.
        Err(_) => Ok(None),
    }
}

fn plan(server: &Server, setting: &Setting, each: Duration) -> Result<Plan, CliError> {
    let plan = own_server::get(&server.url(&setting.path), setting.keep_alive);
    let plan = plan.map_err(|error| CliError::Failed(format!("internal error in the demo's plan: {error}")))?;
    Ok(Plan {
        connections: setting.connections,
        threads: cpus(),
        duration: Some(each),
        keep_alive: setting.keep_alive,
        ..plan
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use torr_gauge::verdict::Advice;

    #[test]
    fn the_server_can_be_started_again_with_its_database() {
        let before = |database: &str| again(database, 2).before_running();
        assert_eq!(before(EMBEDDED), [Advice::StartServer { command: "torr serve --workers 2".into() }]);
        let variables = vec![("TORR_URL_USER".to_owned(), "user and password of --database".to_owned())];
        let command = "torr serve --workers 2 --database \"mysql://$TORR_URL_USER@h/d\"".to_owned();
        assert_eq!(before("mysql://u:pw@h/d"), [Advice::ExportSecrets { variables }, Advice::StartServer { command }]);
    }
}
