//! What sessions and scripts cost: CPU time per request beside a bare GET of the same server, and beside wrk with the same script.

use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

use clap::Args;
use serde::Serialize;

use crate::archive;
use crate::candidates::arguments::words;
use crate::candidates::tally::{self, Tally};
use crate::candidates::{TORR, WRK};
use crate::child::{self, Server, free_port};
use crate::machine::{self, Machine};
use crate::options::{RunOptions, Size};
use crate::report::table;
use crate::roster::Roster;
use crate::rounds::{self, Ratio, Row, Skipped, Taken, median, turns};
use torr_test_support::error::Error;
use torr_test_support::interrupt;

/// How sessions and scripts are measured.
#[derive(Args)]
pub struct SessionOptions {
    /// How many turns, and how long.
    #[command(flatten)]
    pub size: Size,
    /// Connections open at a time, one for each user
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..))]
    pub connections: u32,
    /// What is measured, and whether it is kept.
    #[command(flatten)]
    pub run: RunOptions,
}

/// A session of five entries with a capture, three asserts and a record.
const SESSION: &str = r#"GET {{base}}/
HTTP 200

GET {{base}}/json?user={{user}}
HTTP 200
[Captures]
message: jsonpath "$.message"
[Asserts]
jsonpath "$.message" == "Hello, World!"
header "Content-Type" contains "json"

GET {{base}}/bytes/100
HTTP 200

GET {{base}}/plaintext?message={{message}}
HTTP 200

GET {{base}}/json
HTTP 200
[Asserts]
jsonpath "$.message" exists
"#;
/// A script as people have them: a counter in the path and in a header.
const SCRIPT: &str = r#"counter = 0
request = function()
   wrk.headers["X-Counter"] = counter
   counter = counter + 1
   return wrk.format(nil, "/json?n=" .. counter)
end
"#;

/// The candidates: name and arguments.
const GET: &str = "torr, GET";
const OF_SESSION: &str = "torr, session";
const OF_SCRIPT: &str = "torr, script";
const OF_WRK: &str = "wrk, script";

/// One turn.
#[derive(Serialize)]
struct Turn {
    requests: u64,
    cpu_us_per_request: f64,
}

impl std::fmt::Display for Turn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:.3} CPU us/request of {} requests", self.cpu_us_per_request, self.requests)
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
    skipped: Vec<Skipped>,
    turns: Vec<Row<Turn>>,
}

#[derive(Serialize)]
struct Outcome {
    candidate: &'static str,
    cpu_us_per_request: f64,
    /// Over the bare GET's.
    to_get: Ratio,
    /// Over wrk's with the same script.
    to_wrk: Option<Ratio>,
}

/// Measures all candidates in turns, prints the table and archives it.
pub fn run(options: &SessionOptions) -> Result<(), Error> {
    interrupt::install()?;
    machine::check(options.connections)?;
    let roster = Roster::torr(options.run.torr.as_deref())?;
    let (started, machine) = (SystemTime::now(), Machine::describe(&roster));
    let folder = tempfile::tempdir()?;
    let port = free_port()?;
    let serve = words(&format!("serve --workers 1 --listen 127.0.0.1:{port}"));
    let mut server = Server::start("torr serve", port, roster.program(TORR), &serve, folder.path())?;
    write_files(folder.path())?;

    let mut turn = |name: &'static str| {
        let turn = take(name, options, roster.program(TORR), port, folder.path());
        server.cpu_at_rest()?;
        turn
    };
    turn(GET)?;
    let candidates = vec![GET, OF_SESSION, OF_SCRIPT, OF_WRK];
    let Taken { candidates, skipped, rows, .. } =
        rounds::take("sessions", options.size.rounds(), candidates, Vec::new(), turn)?;
    let cost = |turn: &Turn| turn.cpu_us_per_request;
    let has_wrk = candidates.contains(&OF_WRK);
    let result = |candidate: &'static str| Outcome {
        candidate,
        cpu_us_per_request: median(turns(&rows, candidate).map(cost).collect()),
        to_get: Ratio::between(&rows, candidate, GET, cost),
        to_wrk: (candidate == OF_SCRIPT && has_wrk).then(|| Ratio::between(&rows, candidate, OF_WRK, cost)),
    };
    let results = candidates.into_iter().map(result).collect();
    let (schema, started_at, quick) = ("torr.bench.sessions/1", archive::moment(started), options.size.quick);
    let report = Report { schema, started_at, quick, machine, results, skipped, turns: rows };
    let text = markdown(&report, options);
    archive::show(&options.run, &report.started_at, &report.machine, "sessions", &report, &text)
}

/// Writes the files of the session and of the script.
pub fn write_files(folder: &Path) -> Result<(), Error> {
    let users: String = (0..1000).map(|n| format!("user-{n}\n")).collect();
    fs::write(folder.join("session.hurl"), SESSION)?;
    fs::write(folder.join("users.csv"), format!("user\n{users}"))?;
    fs::write(folder.join("script.lua"), SCRIPT)?;
    Ok(())
}

fn take(name: &'static str, options: &SessionOptions, torr: &str, port: u16, folder: &Path) -> Result<Turn, Error> {
    let (seconds, base) = (options.size.seconds(), format!("http://127.0.0.1:{port}"));
    let load = format!("-t 1 -c {}", options.connections);
    type Read = fn(&str) -> Option<Tally>;
    let (program, arguments, read): (&str, String, Read) = match name {
        GET => (torr, format!("{load} -d {seconds} --json - {base}/json"), tally::torr),
        OF_SESSION => {
            let variables = format!("--variable base={base} --feeder users.csv");
            (torr, format!("{load} -d {seconds} --json - session.hurl {variables}"), tally::torr)
        }
        OF_SCRIPT => (torr, format!("wrk {load} -d {seconds}s -s script.lua {base}"), tally::wrk),
        _ => (WRK, format!("{load} -d {seconds}s -s script.lua {base}"), tally::wrk),
    };
    let limit = Duration::from_secs(u64::from(seconds) + 30);
    let ended = child::run(name, program, &words(&arguments), folder, limit)?;
    let tally = read(&ended.stdout).filter(|tally| tally.requests > 0 && tally.failed == 0);
    let tally =
        tally.ok_or_else(|| Error::failed(format!("requests failed, or none were counted: {}", ended.last_words)))?;
    Ok(Turn { requests: tally.requests, cpu_us_per_request: ended.cpu_seconds / tally.requests as f64 * 1e6 })
}

fn markdown(report: &Report, options: &SessionOptions) -> String {
    let header = ["", "CPU us per request", "x GET", "range", "x wrk", "range"].map(str::to_owned).to_vec();
    let range = |ratio: &Ratio| format!("{:.2} to {:.2}", ratio.min, ratio.max);
    let row = |result: &Outcome| {
        let (to_wrk, wrk_range) = match &result.to_wrk {
            Some(ratio) => (format!("{:.2}", ratio.median), range(ratio)),
            None => (String::new(), String::new()),
        };
        let name = result.candidate.to_owned();
        let cost = format!("{:.2}", result.cpu_us_per_request);
        vec![name, cost, format!("{:.2}", result.to_get.median), range(&result.to_get), to_wrk, wrk_range]
    };
    let rows: Vec<Vec<String>> = std::iter::once(header).chain(report.results.iter().map(row)).collect();
    let (started, revision) = (&report.started_at, &report.machine.revision);
    let mut text = format!("# Sessions and scripts, {started}, revision {revision}\n\n");
    text += &format!(
        "`torr serve --workers 1` on CPU 0, the load on CPU 1 with {} connections, {} rounds of {} s turns, the order \
         reversed every other round. The GET is of `/json`; the session has five entries with a capture, three asserts and \
         a record; the script puts a counter into path and header.\n\n",
        options.connections,
        options.size.rounds(),
        options.size.seconds()
    );
    if report.quick {
        text += "**A quick run: it shows that all works, not what it costs.**\n\n";
    }
    text += &archive::on(&report.machine);
    for skipped in &report.skipped {
        text += &format!("- {} dropped out: {}\n", skipped.candidate, skipped.reason);
    }
    text + "\n" + &table(&rows)
}
