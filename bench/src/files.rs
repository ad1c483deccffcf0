//! What static files cost: `torr serve --root` beside nginx.

use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

use clap::Args;
use serde::Serialize;

use crate::archive;
use crate::candidates::arguments::words;
use crate::candidates::{NGINX, TORR, nginx, tally};
use crate::child::{self, Server, free_port};
use crate::machine::{self, Machine};
use crate::options::{RunOptions, Size};
use crate::report::table;
use crate::roster::Roster;
use crate::rounds::{self, Ratio, Row, Skipped, Taken, median, turns};
use torr_test_support::error::Error;
use torr_test_support::interrupt;

/// How static files are measured.
#[derive(Args)]
pub struct FileOptions {
    /// How many turns, and how long.
    #[command(flatten)]
    pub size: Size,
    /// What is measured, and whether it is kept.
    #[command(flatten)]
    pub run: RunOptions,
}

/// The name of nginx with its cache of open files.
const CACHED: &str = "nginx, open_file_cache";
const CANDIDATES: [&str; 3] = [TORR, NGINX, CACHED];
/// The files' sizes in bytes.
const SIZES: [usize; 4] = [3_000, 15_000, 70_000, 1_000_000];
const CONNECTIONS: u32 = 50;
/// What a request may cost at most, as a multiple of nginx's cost.
const AT_MOST: f64 = 1.1;

/// One turn.
#[derive(Serialize)]
struct Turn {
    requests: u64,
    cpu_us_per_request: f64,
}

impl std::fmt::Display for Turn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} requests, {:.1} us of CPU time each", self.requests, self.cpu_us_per_request)
    }
}

/// A report, as it is archived.
#[derive(Serialize)]
struct Report {
    schema: &'static str,
    started_at: String,
    quick: bool,
    machine: Machine,
    files: Vec<OfSize>,
}

/// The files of one size.
#[derive(Serialize)]
struct OfSize {
    bytes: usize,
    results: Vec<Outcome>,
    skipped: Vec<Skipped>,
    turns: Vec<Row<Turn>>,
}

/// The rounds of a server.
#[derive(Serialize)]
struct Outcome {
    candidate: &'static str,
    cpu_us_per_request: f64,
    /// To nginx without its cache.
    to_nginx: Option<Ratio>,
    to_cached: Option<Ratio>,
}

/// Measures the servers in turns, prints the table and archives it.
pub fn run(options: &FileOptions) -> Result<(), Error> {
    interrupt::install()?;
    machine::check(CONNECTIONS)?;
    let roster = Roster::find(&[], options.run.torr.as_deref(), |tool| [TORR, NGINX].contains(&tool), |_| false)?;
    let (started, machine) = (SystemTime::now(), Machine::describe(&roster));
    let folder = tempfile::tempdir()?;
    let root = folder.path().join("root");
    fs::create_dir(&root)?;
    for bytes in SIZES {
        fs::write(root.join(name(bytes)), "0123456789".repeat(bytes / 10))?;
    }
    let mut files = Vec::new();
    for bytes in SIZES {
        files.push(of_size(options, &roster, bytes, folder.path())?);
    }
    let (schema, started_at, quick) = ("torr.bench.files/1", archive::moment(started), options.size.quick);
    let report = Report { schema, started_at, quick, machine, files };
    let text = markdown(&report, options);
    archive::show(&options.run, &report.started_at, &report.machine, "files", &report, &text)?;
    match report.files.iter().all(|file| file.skipped.is_empty()) {
        true => Ok(()),
        false => Err(Error::failed("a server could not be measured, see the table")),
    }
}

fn name(bytes: usize) -> String {
    format!("{bytes}.bin")
}

/// Measures files of one size.
fn of_size(options: &FileOptions, roster: &Roster, bytes: usize, folder: &Path) -> Result<OfSize, Error> {
    let start = |candidate: &'static str| {
        let port = free_port()?;
        let (program, arguments) = match candidate {
            TORR => (TORR, words(&format!("serve --root root --listen 127.0.0.1:{port} --workers 1"))),
            _ => (NGINX, nginx(folder, port, candidate == CACHED)?),
        };
        Server::start(candidate, port, roster.program(program), &arguments, folder)
    };
    let mut servers = Vec::new();
    for candidate in CANDIDATES {
        servers.push((candidate, start(candidate)?));
    }
    let seconds = options.size.seconds();
    let mut turn = |candidate: &'static str| {
        let server = servers.iter_mut().find(|(name, _)| *name == candidate).map(|(_, server)| server);
        let server = server.expect("each candidate has a server");
        let before = server.cpu_at_rest()?;
        let load = format!(
            "-t 1 -c {CONNECTIONS} -d {seconds} -q --json - http://127.0.0.1:{}/{}",
            server.port(),
            name(bytes)
        );
        let limit = Duration::from_secs(u64::from(seconds) + 60);
        let ended = child::run(TORR, roster.program(TORR), &words(&load), folder, limit)?;
        let requests = counted(&ended.stdout, bytes);
        let requests = requests.ok_or_else(|| Error::failed(format!("requests failed: {}", ended.last_words)))?;
        let cpu_us_per_request = (server.cpu_at_rest()? - before) * 1e6 / requests as f64;
        Ok(Turn { requests, cpu_us_per_request })
    };
    // The first turn after a start finds cold caches.
    for candidate in CANDIDATES {
        turn(candidate)?;
    }
    let Taken { candidates, skipped, rows, .. } =
        rounds::take(format!("{bytes} bytes"), options.size.rounds(), CANDIDATES.to_vec(), Vec::new(), turn)?;
    let cost = |turn: &Turn| turn.cpu_us_per_request;
    let ratio = |own: &'static str, other: &'static str| {
        (own == TORR && candidates.contains(&other)).then(|| Ratio::between(&rows, own, other, cost))
    };
    let result = |candidate: &&'static str| Outcome {
        candidate,
        cpu_us_per_request: median(turns(&rows, candidate).map(cost).collect()),
        to_nginx: ratio(candidate, NGINX),
        to_cached: ratio(candidate, CACHED),
    };
    let results = candidates.iter().map(result).collect();
    Ok(OfSize { bytes, results, skipped, turns: rows })
}

/// Reads the number of requests in a result of `torr`; `None` if one failed or had another length than the file.
fn counted(out: &str, bytes: usize) -> Option<u64> {
    let result: serde_json::Value = serde_json::from_str(out).ok()?;
    let failed = tally::failed(&result)?;
    let requests = result["requests"].as_u64().filter(|requests| *requests > 0 && failed == 0)?;
    (result["bytes"]["body"].as_u64()? == requests * bytes as u64).then_some(requests)
}

/// Writes the configuration of one worker of nginx that sends files as it does best, and returns its arguments.
fn nginx(folder: &Path, port: u16, is_cached: bool) -> Result<Vec<String>, Error> {
    let cache = if is_cached { "open_file_cache max=1000; open_file_cache_valid 60s;" } else { "" };
    let http = format!("sendfile on; tcp_nopush on; {cache}");
    let server = format!("listen 127.0.0.1:{port} backlog=4096; root ../root;");
    // The worker reads a folder that is its owner's alone.
    let configuration = format!("user root;\n{}", nginx::one_worker(CONNECTIONS + 1000, &http, &server));
    Ok(nginx::configured(&folder.join(format!("nginx-{port}")), &configuration)?)
}

fn markdown(report: &Report, options: &FileOptions) -> String {
    let header = ["", "file bytes", "CPU us per request", "x nginx", "x nginx with open_file_cache"];
    let shown = |ratio: &Option<Ratio>| {
        ratio.map_or_else(|| "-".into(), |Ratio { median, min, max }| format!("{median:.2} ({min:.2} to {max:.2})"))
    };
    let rows = report.files.iter().flat_map(|file| {
        file.results.iter().map(|result| {
            let cost = format!("{:.1}", result.cpu_us_per_request);
            vec![
                result.candidate.to_owned(),
                file.bytes.to_string(),
                cost,
                shown(&result.to_nginx),
                shown(&result.to_cached),
            ]
        })
    });
    let rows: Vec<_> = std::iter::once(header.map(str::to_owned).to_vec()).chain(rows).collect();
    let (started, revision) = (&report.started_at, &report.machine.revision);
    let mut text = format!("# Static files, {started}, revision {revision}\n\n");
    text += &format!(
        "One worker on CPU 0, {CONNECTIONS} connections of `torr` on CPU 1; nginx with `sendfile` and `tcp_nopush`, and with \
         `open_file_cache` besides, which looks at a file again after 60 s only. {} rounds of {} s turns; CPU time of the server, \
         medians of the rounds. Each ratio is between turns of the same round: its median, and its range. At most {AT_MOST} is the \
         goal for files up to 70 KB.\n\n",
        options.size.rounds(),
        options.size.seconds()
    );
    if report.quick {
        text += "**A quick run: it shows that all works, not what it costs.**\n\n";
    }
    text += &archive::on(&report.machine);
    for skipped in report.files.iter().flat_map(|file| &file.skipped) {
        text += &format!("- {} dropped out: {}\n", skipped.candidate, skipped.reason);
    }
    text + "\n" + &table(&rows)
}
