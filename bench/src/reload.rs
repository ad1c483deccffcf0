//! Reloads under full load: worker processes are replaced over and over while `torr` presses them. No request may fail.

use std::io::Write;
use std::time::{Duration, Instant, SystemTime};

use clap::Args;
use rustix::process::Signal;
use serde::Serialize;
use serde_json::Value;

use crate::archive;
use crate::candidates::TORR;
use crate::candidates::arguments::words;
use crate::child::{self, Server, free_port};
use crate::floor::PAGE;
use crate::machine::{self, Machine};
use crate::options::RunOptions;
use crate::probe;
use crate::report::table;
use crate::roster::Roster;
use torr_test_support::error::Error;
use torr_test_support::interrupt;

/// How a server is reloaded under load.
#[derive(Args)]
pub struct ReloadOptions {
    /// Fewer requests: shows that all works
    #[arg(long)]
    pub quick: bool,
    /// Requests of each load [default: 1000000, quick: 50000]
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
    requests: Option<u64>,
    /// Connections open at a time
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..))]
    pub connections: u32,
    /// Seconds from one reload to the next [default: 1, quick: 0.2]
    #[arg(long)]
    every: Option<f64>,
    /// What is measured, and whether it is kept.
    #[command(flatten)]
    pub run: RunOptions,
}

impl ReloadOptions {
    /// Requests of each load.
    pub fn requests(&self) -> u64 {
        self.requests.unwrap_or(if self.quick { 50_000 } else { 1_000_000 })
    }

    /// Time from one reload to the next.
    pub fn every(&self) -> Result<Duration, Error> {
        let seconds = self.every.unwrap_or(if self.quick { 0.2 } else { 1.0 });
        let time = Duration::try_from_secs_f64(seconds).ok().filter(|time| !time.is_zero());
        time.ok_or_else(|| Error::Usage(format!("--every {seconds} is not a number of seconds above 0")))
    }
}

/// How long one load may take.
const LIMIT: Duration = Duration::from_secs(1800);

/// What the supervisor says of a reload that is done.
pub const DONE: &str = "reloaded:";

/// What the supervisor says of a reload that is not done.
pub const GIVEN_UP: &str = "reload cancelled";

/// A report, as it is archived.
#[derive(Serialize)]
struct Report {
    schema: &'static str,
    started_at: String,
    quick: bool,
    every_seconds: f64,
    connections: u32,
    machine: Machine,
    loads: Vec<Outcome>,
}

/// What became of one load.
#[derive(Serialize)]
struct Outcome {
    load: &'static str,
    /// Requests that were to be made.
    requests: u64,
    /// Those of them that were answered with status 200.
    answered: u64,
    /// All others, whatever became of them.
    failed: u64,
    /// Failures by kind, as `torr` tells them.
    errors: Value,
    /// Connections that the server ended, which is how clients come to the new workers.
    closed_by_server: u64,
    seconds: f64,
    /// Reloads requested, done, and given up.
    #[serde(rename = "reloads_asked")]
    reloads_requested: u64,
    reloads_done: usize,
    reloads_given_up: usize,
}

impl Outcome {
    /// Nothing failed, and there were reloads that could have made something fail.
    fn is_good(&self) -> bool {
        self.failed == 0 && self.reloads_done > 0 && self.reloads_given_up == 0
    }
}

/// Runs all loads, prints the table and archives it. An error if a request failed, or no reload came about.
pub fn run(options: &ReloadOptions) -> Result<(), Error> {
    interrupt::install()?;
    machine::check(options.connections)?;
    let every = options.every()?;
    let roster = Roster::torr(options.run.torr.as_deref())?;
    let (started, machine) = (SystemTime::now(), Machine::describe(&roster));
    let loads = [("keep-alive", ""), ("one connection per request", "--no-keepalive")];
    let loads = loads.into_iter().map(|(name, flags)| press(name, flags, options, every, roster.program(TORR)));
    let report = Report {
        schema: "torr.bench.reload/1",
        started_at: archive::moment(started),
        quick: options.quick,
        every_seconds: every.as_secs_f64(),
        connections: options.connections,
        machine,
        loads: loads.collect::<Result<_, _>>()?,
    };
    let text = markdown(&report);
    let _ = std::io::stdout().write_all(text.as_bytes()); // a reader that is gone misses only the screen
    if !options.run.no_archive {
        let folder = archive::put(&report.started_at, &report.machine, "reload", &report, &text)?;
        eprintln!("archived in bench/runs/{folder}");
    }
    match report.loads.iter().all(Outcome::is_good) {
        true => Ok(()),
        false => Err(Error::failed("requests failed, or reloads did, or there was none: see the table")),
    }
}

/// One load on a server of its own, which is reloaded until the load is done.
fn press(
    load: &'static str,
    flags: &str,
    options: &ReloadOptions,
    every: Duration,
    torr: &str,
) -> Result<Outcome, Error> {
    let folder = tempfile::tempdir()?;
    let (port, requests) = (free_port()?, options.requests());
    let serve = words(&format!("serve --processes 2 --workers 1 --listen 127.0.0.1:{port}"));
    let server = Server::start("torr serve", port, torr, &serve, folder.path())?;
    probe::response_length(port, "/", PAGE, false)?;

    let generator =
        words(&format!("-t 1 -c {} -n {requests} {flags} --json - http://127.0.0.1:{port}/", options.connections));
    let (mut last, mut reloads_requested) = (Instant::now(), 0);
    let ended = child::run_while(TORR, torr, &generator, folder.path(), LIMIT, || {
        if last.elapsed() >= every {
            (last, reloads_requested) = (Instant::now(), reloads_requested + 1);
            server.signal(Signal::HUP)?;
        }
        Ok(())
    })?;
    probe::response_length(port, "/", PAGE, false)?;
    let said = server.said()?;
    let count = |what| said.lines().filter(|line| line.contains(what)).count();

    let result: Value = serde_json::from_str(&ended.stdout).map_err(Error::at("no result from torr"))?;
    let answered = result["status"]["200"].as_u64().unwrap_or(0);
    let outcome = Outcome {
        load,
        requests,
        answered,
        failed: requests.saturating_sub(answered),
        errors: result["errors"].clone(),
        closed_by_server: result["connections"]["closed_by_server"].as_u64().unwrap_or(0),
        seconds: result["duration_s"].as_f64().unwrap_or(0.0),
        reloads_requested,
        reloads_done: count(DONE),
        reloads_given_up: count(GIVEN_UP),
    };
    eprintln!("reload, {load}: {} of {requests} requests failed", outcome.failed);
    Ok(outcome)
}

fn markdown(report: &Report) -> String {
    let header = ["", "requests", "failed", "reloads asked", "done", "given up", "closed by the server", "seconds"];
    let row = |o: &Outcome| {
        let numbers = [o.requests, o.failed, o.reloads_requested, o.reloads_done as u64, o.reloads_given_up as u64];
        let numbers = numbers.into_iter().chain([o.closed_by_server]).map(|n| n.to_string());
        std::iter::once(o.load.to_owned()).chain(numbers).chain([format!("{:.1}", o.seconds)]).collect()
    };
    let rows: Vec<Vec<String>> =
        std::iter::once(header.map(str::to_owned).to_vec()).chain(report.loads.iter().map(row)).collect();
    let (started, revision) = (&report.started_at, &report.machine.revision);
    let mut text = format!("# Reloads under full load, {started}, revision {revision}\n\n");
    text += &format!(
        "`torr serve --processes 2 --workers 1` on CPU 0, `torr -c {}` on CPU 1, a SIGHUP every {} s. A request has failed \
         unless it was answered with status 200.\n\n",
        report.connections, report.every_seconds
    );
    if report.quick {
        text += "**A quick run: it shows that all works, no more.**\n\n";
    }
    text + &archive::on(&report.machine) + "\n" + &table(&rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_reloads_that_fail_no_request_are_good() {
        let outcome = |failed, reloads_done, reloads_given_up| Outcome {
            load: "keep-alive",
            requests: 1000,
            answered: 1000 - failed,
            failed,
            errors: Value::Null,
            closed_by_server: 0,
            seconds: 1.0,
            reloads_requested: 3,
            reloads_done,
            reloads_given_up,
        };
        assert!(outcome(0, 3, 0).is_good());
        assert!(!outcome(1, 3, 0).is_good());
        assert!(!outcome(0, 0, 0).is_good());
        assert!(!outcome(0, 2, 1).is_good());
    }
}
