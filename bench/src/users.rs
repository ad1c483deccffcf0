//! What virtual users take in memory: the peak of a run of sessions beside that of a bare GET with as many connections.

use std::path::Path;
use std::time::{Duration, SystemTime};

use clap::Args;
use serde::Serialize;

use crate::archive;
use crate::candidates::TORR;
use crate::candidates::arguments::words;
use crate::candidates::tally;
use crate::child::{self, Server, free_port};
use crate::machine::{self, Machine};
use crate::options::RunOptions;
use crate::report::table;
use crate::roster::Roster;
use crate::sessions;
use torr_test_support::error::Error;
use torr_test_support::interrupt;

/// How the memory of virtual users is measured.
#[derive(Args)]
pub struct UserOptions {
    /// Numbers of users, each with a connection of its own
    #[arg(long, value_delimiter = ',', default_value = "1000,10000,100000", value_parser = clap::value_parser!(u32).range(1..))]
    pub users: Vec<u32>,
    /// Length of each run in seconds: every user has to send a request in it
    #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..))]
    pub seconds: u32,
    /// What is measured, and whether it is kept.
    #[command(flatten)]
    pub run: RunOptions,
}

/// A report, as it is archived.
#[derive(Serialize)]
struct Report {
    schema: &'static str,
    started_at: String,
    seconds: u32,
    machine: Machine,
    results: Vec<Outcome>,
}

/// The memory of a number of users.
#[derive(Serialize)]
struct Outcome {
    users: u32,
    /// The peak of a run of bare GETs with a connection for each user, in KiB of resident memory.
    get_kib: u64,
    /// The peak of the run of sessions.
    session_kib: u64,
    /// What a user takes beside its connection, in bytes.
    bytes_per_user: f64,
}

/// Measures each number of users, prints the table and archives it.
pub fn run(options: &UserOptions) -> Result<(), Error> {
    interrupt::install()?;
    machine::check(options.users.iter().copied().max().unwrap_or(0))?;
    let roster = Roster::torr(options.run.torr.as_deref())?;
    let (started, machine) = (SystemTime::now(), Machine::describe(&roster));
    let folder = tempfile::tempdir()?;
    let port = free_port()?;
    let most = options.users.iter().copied().max().unwrap_or(0);
    let serve = words(&format!("serve --workers 1 --listen 127.0.0.1:{port} --max-connections {}", most + 100));
    let _server = Server::start("torr serve", port, roster.program(TORR), &serve, folder.path())?;
    sessions::write_files(folder.path())?;
    let mut results = Vec::new();
    for &users in &options.users {
        let peak = |name, what: &str| peak(name, what, users, options.seconds, roster.program(TORR), folder.path());
        let base = format!("http://127.0.0.1:{port}");
        let get_kib = peak("torr, GET", &format!("{base}/json"))?;
        let session = format!("session.hurl --variable base={base} --feeder users.csv");
        let session_kib = peak("torr, session", &session)?;
        let bytes_per_user = (session_kib as f64 - get_kib as f64) * 1024.0 / f64::from(users);
        eprintln!("{users} users: {session_kib} KiB, of bare GETs {get_kib} KiB");
        results.push(Outcome { users, get_kib, session_kib, bytes_per_user });
    }
    let (schema, started_at) = ("torr.bench.users/1", archive::moment(started));
    let report = Report { schema, started_at, seconds: options.seconds, machine, results };
    let text = markdown(&report);
    archive::show(&options.run, &report.started_at, &report.machine, "users", &report, &text)
}

/// Returns the peak of a run's memory in KiB.
fn peak(name: &'static str, what: &str, users: u32, seconds: u32, torr: &str, folder: &Path) -> Result<u64, Error> {
    let arguments = format!("{what} -t 1 -c {users} -d {seconds} --timeout 60s --json -");
    let limit = Duration::from_secs(u64::from(seconds) + 120);
    let ended = child::run(name, torr, &words(&arguments), folder, limit)?;
    let is_whole =
        tally::torr(&ended.stdout).is_some_and(|tally| tally.requests >= u64::from(users) && tally.failed == 0);
    match is_whole {
        true => Ok(ended.peak_memory_kib),
        false => Err(Error::failed(format!(
            "{name}, {users} users: requests failed, or not every user has sent one (give it more --seconds): {}",
            ended.last_words
        ))),
    }
}

fn markdown(report: &Report) -> String {
    let header = ["users", "bare GET, MiB", "sessions, MiB", "bytes per user beside its connection"];
    let mib = |kib: u64| format!("{:.1}", kib as f64 / 1024.0);
    let row = |outcome: &Outcome| {
        let Outcome { users, get_kib, session_kib, bytes_per_user } = outcome;
        vec![users.to_string(), mib(*get_kib), mib(*session_kib), format!("{bytes_per_user:.0}")]
    };
    let rows: Vec<Vec<String>> =
        std::iter::once(header.map(str::to_owned).to_vec()).chain(report.results.iter().map(row)).collect();
    let (started, revision) = (&report.started_at, &report.machine.revision);
    let mut text = format!("# Memory of virtual users, {started}, revision {revision}\n\n");
    text += &format!(
        "The peak of `torr`'s resident memory, looked at ten times a second, in runs of {} s with one thread: GETs of `/json`, \
         and the session of `torr-bench sessions`, each user with a connection of its own.\n\n",
        report.seconds
    );
    text += &archive::on(&report.machine);
    text + "\n" + &table(&rows)
}
