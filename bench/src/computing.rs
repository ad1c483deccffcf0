//! What handlers that compute do to other requests: an axum router on `torr-serve` and under `axum::serve`, by the same line.

use std::path::Path;
use std::time::{Duration, SystemTime};

use clap::Args;
use serde::Serialize;
use serde_json::Value;

use crate::archive;
use crate::candidates::arguments::words;
use crate::candidates::tally;
use crate::candidates::{AXUM, ROUTER, TORR};
use crate::child::{self, Beside, Server, free_port};
use crate::machine::{self, Machine};
use crate::options::{RunOptions, Size};
use crate::report::table;
use crate::roster::Roster;
use crate::rounds::{self, Row, Skipped, Taken, median, turns};
use torr_test_support::error::Error;
use torr_test_support::interrupt;

/// How handlers that compute are measured.
#[derive(Args)]
pub struct ComputingOptions {
    /// How many turns, and how long.
    #[command(flatten)]
    pub size: Size,
    /// What is measured, and whether it is kept.
    #[command(flatten)]
    pub run: RunOptions,
}

/// The name of the tool that has both servers.
const PROGRAM: &str = "router";
/// The milliseconds for which a request computes that others are beside, and those of requests in parallel.
const LONG: u32 = 200;
const PARALLEL: u32 = 50;
/// The number of requests in parallel, over one connection of HTTP/2.
const STREAMS: u32 = 8;
/// The time before each measurement, in which `torr-serve` also notices what computes.
const WARM_UP: u32 = 2;
/// What the p99 of the small request may be at most, as a multiple of that under `axum::serve`.
const AT_MOST: f64 = 3.0;

/// Latencies in milliseconds.
#[derive(Clone, Copy, Serialize)]
struct Latency {
    requests: u64,
    p50_ms: f64,
    /// `None` where there were too few requests for it, and likewise the next.
    p90_ms: Option<f64>,
    p99_ms: Option<f64>,
    max_ms: f64,
}

impl Latency {
    /// Returns the 99th percentile, or the longest where there were too few requests for that.
    fn tail_ms(&self) -> f64 {
        self.p99_ms.unwrap_or(self.max_ms)
    }
}

/// One turn.
#[derive(Serialize)]
struct Turn {
    /// The small request alone.
    alone: Latency,
    /// The small request beside one that computes.
    beside: Latency,
    /// Requests that compute in parallel.
    parallel: Latency,
}

impl std::fmt::Display for Turn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { alone, beside, parallel } = self;
        let ([alone, beside], parallel) = ([alone, beside].map(Latency::tail_ms), parallel.p50_ms);
        write!(f, "p99 {alone:.2} ms, beside {beside:.2} ms; parallel p50 {parallel:.0} ms")
    }
}

/// A report, as it is archived.
#[derive(Serialize)]
struct Report {
    schema: &'static str,
    started_at: String,
    quick: bool,
    machine: Machine,
    results: Vec<Outcome>,
    /// The p99 of the small request beside one that computes, over that of `axum::serve`.
    p99_to_axum: Option<f64>,
    skipped: Vec<Skipped>,
    turns: Vec<Row<Turn>>,
}

/// The medians of the rounds.
#[derive(Serialize)]
struct Outcome {
    candidate: &'static str,
    alone: Latency,
    beside: Latency,
    parallel: Latency,
}

/// Measures both servers in turns, prints the table and archives it.
pub fn run(options: &ComputingOptions) -> Result<(), Error> {
    interrupt::install()?;
    machine::check(STREAMS)?;
    let roster = Roster::find(&[], options.run.torr.as_deref(), |tool| [TORR, PROGRAM].contains(&tool), |_| false)?;
    let (started, machine) = (SystemTime::now(), Machine::describe(&roster));
    let (folder, torr) = (tempfile::tempdir()?, roster.program(TORR));
    let start = |name, mode: &str| {
        let port = free_port()?;
        let arguments = words(&format!("{mode} 127.0.0.1:{port}"));
        Server::on_all_cpus(name, port, roster.program(PROGRAM), &arguments, folder.path())
    };
    let servers = [(ROUTER, start(ROUTER, "line")?), (AXUM, start(AXUM, "axum-line")?)];
    let turn = |name: &'static str| {
        let server = servers.iter().find(|(candidate, _)| *candidate == name).map(|(_, server)| server.port());
        take(options, torr, server.expect("both candidates have a server"), folder.path())
    };
    let candidates = vec![ROUTER, AXUM];
    let Taken { candidates, skipped, rows, .. } =
        rounds::take("computing", options.size.rounds(), candidates, Vec::new(), turn)?;
    let result = |candidate: &'static str| Outcome {
        candidate,
        alone: middle(&rows, candidate, |turn| turn.alone),
        beside: middle(&rows, candidate, |turn| turn.beside),
        parallel: middle(&rows, candidate, |turn| turn.parallel),
    };
    let results: Vec<_> = candidates.into_iter().map(result).collect();
    let p99 = |name| results.iter().find(|result| result.candidate == name).map(|result| result.beside.tail_ms());
    let p99_to_axum = p99(ROUTER).zip(p99(AXUM)).map(|(ours, axum)| ours / axum);
    let (schema, started_at, quick) = ("torr.bench.computing/1", archive::moment(started), options.size.quick);
    let report = Report { schema, started_at, quick, machine, results, p99_to_axum, skipped, turns: rows };
    let text = markdown(&report, options);
    archive::show(&options.run, &report.started_at, &report.machine, "computing", &report, &text)?;
    match report.skipped.is_empty() {
        true => Ok(()),
        false => Err(Error::failed("a server could not be measured, see the table")),
    }
}

/// The three measurements of one server.
fn take(options: &ComputingOptions, torr: &str, port: u16, folder: &Path) -> Result<Turn, Error> {
    let (seconds, base) = (options.size.seconds(), format!("http://127.0.0.1:{port}"));
    let latency = |load: &str| {
        let arguments = words(&format!("-t 1 -c 1 -d {seconds} --warmup {WARM_UP}s --json - {load}"));
        let limit = Duration::from_secs(u64::from(seconds + WARM_UP) + 60);
        let ended = child::run(TORR, torr, &arguments, folder, limit)?;
        read(&ended.stdout).ok_or_else(|| Error::failed(format!("requests failed: {}", ended.last_words)))
    };
    let small = format!("--think 1ms {base}/");
    let alone = latency(&small)?;
    let computing = words(&format!("-t 1 -c 1 -d 3600 {base}/compute/{LONG}"));
    let other = Beside::start(TORR, torr, &computing, folder)?;
    let beside = latency(&small)?;
    drop(other);
    let parallel = latency(&format!("--http2-prior-knowledge --streams {STREAMS} {base}/compute/{PARALLEL}"))?;
    Ok(Turn { alone, beside, parallel })
}

/// Reads a result of `torr`. `None` if requests failed or there were none.
fn read(out: &str) -> Option<Latency> {
    let result: Value = serde_json::from_str(out).ok()?;
    let failed = tally::failed(&result)?;
    let requests = result["requests"].as_u64().filter(|requests| *requests > 0 && failed == 0)?;
    let ms = |key: &str| Some(result["latency_us"][key].as_f64()? / 1000.0);
    Some(Latency { requests, p50_ms: ms("p50")?, p90_ms: ms("p90"), p99_ms: ms("p99"), max_ms: ms("max")? })
}

/// The medians of a candidate's turns.
fn middle(rows: &[Row<Turn>], candidate: &str, of: impl Fn(&Turn) -> Latency) -> Latency {
    let of_each = |figure: fn(&Latency) -> f64| median(turns(rows, candidate).map(|turn| figure(&of(turn))).collect());
    let where_known = |figure: fn(&Latency) -> Option<f64>| {
        turns(rows, candidate).map(|turn| figure(&of(turn))).collect::<Option<Vec<_>>>().map(median)
    };
    Latency {
        requests: turns(rows, candidate).map(|turn| of(turn).requests).sum(),
        p50_ms: of_each(|latency| latency.p50_ms),
        p90_ms: where_known(|latency| latency.p90_ms),
        p99_ms: where_known(|latency| latency.p99_ms),
        max_ms: of_each(|latency| latency.max_ms),
    }
}

/// A number of milliseconds, or that there is none.
fn shown(ms: Option<f64>) -> String {
    ms.map_or_else(|| "-".to_owned(), |ms| format!("{ms:.2}"))
}

fn markdown(report: &Report, options: &ComputingOptions) -> String {
    let header = ["", "request", "p50 ms", "p90 ms", "p99 ms", "longest ms"].map(str::to_owned).to_vec();
    let parallel = format!("{STREAMS} x {PARALLEL} ms, one HTTP/2 connection");
    let rows = report.results.iter().flat_map(|result| {
        let row = |what: &str, latency: &Latency| {
            let figures = [Some(latency.p50_ms), latency.p90_ms, latency.p99_ms, Some(latency.max_ms)].map(shown);
            [result.candidate.to_owned(), what.to_owned()].into_iter().chain(figures).collect::<Vec<_>>()
        };
        [
            row("small, alone", &result.alone),
            row(&format!("small, beside {LONG} ms of computation"), &result.beside),
            row(&parallel, &result.parallel),
        ]
    });
    let rows: Vec<_> = std::iter::once(header).chain(rows).collect();
    let (started, revision) = (&report.started_at, &report.machine.revision);
    let mut text = format!("# Handlers that compute, {started}, revision {revision}\n\n");
    text += &format!(
        "The same axum router by `torr_serve::serve` and `axum::serve`, each in `#[tokio::main]` on all CPUs. The small request \
         is made by one connection with 1 ms of think time. {} rounds of {} s turns after {WARM_UP} s of warm-up; medians of \
         the rounds; a percentile is left out where a round had too few requests for it.\n\n",
        options.size.rounds(),
        options.size.seconds()
    );
    if report.quick {
        text += "**A quick run: it shows that all works, not how well.**\n\n";
    }
    if let Some(ratio) = report.p99_to_axum {
        let verdict = if ratio <= AT_MOST { "met" } else { "missed" };
        text += &format!(
            "p99 of the small request beside, or its longest time where it has no p99: {ratio:.4} x axum's, at most {AT_MOST:.0}: \
             {verdict}.\n\n"
        );
    }
    text += &archive::on(&report.machine);
    for skipped in &report.skipped {
        text += &format!("- {} dropped out: {}\n", skipped.candidate, skipped.reason);
    }
    text + "\n" + &table(&rows)
}
