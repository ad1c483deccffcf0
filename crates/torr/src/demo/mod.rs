//! `torr demo`: starts the server, presses it as the source documents do, and shows both sides' figures.

mod reference;
mod server;

use crate::cli::DemoArgs;
use crate::exit::{self, Stop};
use crate::interrupt;
use crate::output::{self, Sink};
use crate::press::{self, cpus};
use reference::Reference;
use serde::Serialize;
use server::Server;
use std::fmt::Write;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use torr_gauge::{Machine, RunResult, Verdict};
use torr_net::address;
use torr_press::{Plan, Requests, Target};
use torr_report::live::Live;
use torr_report::style::{FAINT, STRONG, paint};
use torr_report::{human, table, text};

/// How long each setting is pressed.
const EACH: Duration = Duration::from_secs(10);
const EACH_QUICK: Duration = Duration::from_secs(2);

/// What is pressed: connections, and whether they are kept alive.
const SETTINGS: [(usize, bool); 4] = [(100, true), (1000, true), (100, false), (1000, false)];

/// All that the demo found.
#[derive(Serialize)]
struct Demo {
    schema: &'static str,
    torr: &'static str,
    machine: Machine,
    workers: usize,
    rows: Vec<Row>,
    verdict: Option<Verdict>,
}

/// One setting.
#[derive(Serialize)]
struct Row {
    name: String,
    connections: usize,
    keep_alive: bool,
    references: Vec<Reference>,
    run: RunResult,
}

/// Runs the demo and prints its table.
pub fn run(args: &DemoArgs) -> Result<ExitCode, Stop> {
    let json = Sink::open(&args.json)?;
    let stop = interrupt::flag()?;
    let workers = cpus();
    let server = Server::start(workers)?;
    let rows = press_all(&server, if args.quick { EACH_QUICK } else { EACH }, &stop)?;
    drop(server);
    let demo = Demo {
        schema: "torr.demo/1",
        torr: env!("CARGO_PKG_VERSION"),
        machine: Machine::this(),
        workers,
        verdict: rows.first().and_then(|row| row.run.verdict.clone()),
        rows,
    };
    if !json.takes_stdout() {
        output::print(&render(&demo, &args.json.display().to_string()));
    }
    json.put(&serde_json::to_string_pretty(&demo).map_err(|error| Stop::Failed(error.to_string()))?)
        .map_err(Stop::Failed)?;
    Ok(if stop.load(Ordering::Relaxed) { exit::interrupted() } else { ExitCode::SUCCESS })
}

fn press_all(server: &Server, each: Duration, stop: &AtomicBool) -> Result<Vec<Row>, Stop> {
    let live = Live::new(Some(each * SETTINGS.len() as u32), true);
    let mut rows = Vec::new();
    for (connections, keep_alive) in SETTINGS {
        let name = format!("{connections} connections, {}", if keep_alive { "keep-alive" } else { "none kept alive" });
        let before_s = each.as_secs_f64() * rows.len() as f64;
        live.begin(before_s, &name);
        let plan = plan(server, connections, keep_alive, each)?;
        let run = press::press(&plan, stop, |progress| live.within(before_s, &name, progress));
        let run = run.inspect_err(|_| live.clear())?;
        rows.push(Row {
            name,
            connections,
            keep_alive,
            references: reference::hello(connections, keep_alive),
            run: run.result,
        });
        if stop.load(Ordering::Relaxed) {
            break;
        }
    }
    live.clear();
    Ok(rows)
}

fn plan(server: &Server, connections: usize, keep_alive: bool, each: Duration) -> Result<Plan, Stop> {
    let ours = |error: String| Stop::Failed(format!("the demo's own plan is wrong: {error}"));
    let target = Target::parse(&server.url()).map_err(|error| ours(error.to_string()))?;
    let request = Requests::get(&target, keep_alive).map_err(|error| ours(error.to_string()))?;
    let addresses = address::resolve(&target.host, target.port).map_err(|error| ours(error.to_string()))?;
    Ok(Plan {
        connections,
        threads: cpus(),
        duration: Some(each),
        keep_alive,
        ..Plan::new(target, addresses.into_iter().map(Into::into).collect(), request)
    })
}

fn render(demo: &Demo, json: &str) -> String {
    let heading = ["hello world", "requests/s", "p50", "p99", "errors", "limit", "webman", "Drogon", "nginx"];
    let mut rows = vec![heading.map(|cell| paint(FAINT, cell)).to_vec()];
    rows.extend(demo.rows.iter().map(cells));
    let machine = &demo.machine;
    let cores = |n: usize| if n == 1 { "1 CPU".to_owned() } else { format!("{n} CPUs") };
    let mut text = String::new();
    let _ = writeln!(text, "{}\n", paint(STRONG, "torr serve, pressed by torr"));
    text.extend(table::align(&rows).lines().map(|line| format!("  {line}\n")));
    let _ = writeln!(
        text,
        "\n  here    {}, {}, {} GiB, {}; server and generator share it, {} worker{}",
        machine.cpu,
        cores(machine.cores),
        machine.memory_gib,
        machine.kernel,
        demo.workers,
        if demo.workers == 1 { "" } else { "s" }
    );
    for (name, machine) in reference::MACHINES {
        let _ = writeln!(text, "  {name:<7} {machine}");
    }
    if let Some(verdict) = &demo.verdict {
        let _ = write!(text, "\n{}", text::verdict(verdict));
    }
    let _ = writeln!(text, "\n  {}", paint(FAINT, format!("all figures are in {json}")));
    text
}

fn cells(row: &Row) -> Vec<String> {
    let run = &row.run;
    let micros = |us: Option<u64>| us.map_or("-".into(), |us| human::micros(us as f64));
    let limit = run.verdict.as_ref().map_or("-".into(), |verdict| verdict.factor.to_string());
    let mut cells = vec![
        row.name.clone(),
        paint(STRONG, human::rate(run.rps)),
        micros(run.latency_us.and_then(|latency| latency.p50)),
        micros(run.latency_us.and_then(|latency| latency.p99)),
        human::count(run.errors.total()),
        limit,
    ];
    let column = |name| row.references.iter().find(|r| r.system == name).map_or("-".into(), Reference::range);
    cells.extend(reference::MACHINES.map(|(name, _)| paint(FAINT, column(name))));
    cells
}
