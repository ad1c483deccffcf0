//! What a fleet keeps of what it promises: its rate, a common beginning, and a coordinator that a thousand agents do not hold up.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use clap::Args;
use serde::Serialize;
use serde_json::Value;

use crate::archive;
use crate::built::{Build, By, on_path};
use crate::candidates::TORR;
use crate::candidates::arguments::words;
use crate::child::{self, ALL_CPUS, Beside, Ended, SERVER_CPU, Server, free_port};
use crate::machine::{self, Machine};
use crate::options::RunOptions;
use crate::report::table;
use crate::roster::Roster;
use torr_test_support::error::Error;
use torr_test_support::interrupt;

/// How fleets are measured.
#[derive(Args)]
pub struct FleetOptions {
    /// A short run at a rate: shows that all works
    #[arg(long)]
    pub quick: bool,
    /// Agents, each a process, that begin together
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..))]
    pub agents: u32,
    /// Simulated agents
    #[arg(long, default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..))]
    pub simulated: u32,
    /// The program that simulates agents, instead of building this tree's
    #[arg(long, value_name = "PATH")]
    pub simulator: Option<PathBuf>,
    /// What is measured, and whether it is kept.
    #[command(flatten)]
    pub run: RunOptions,
}

/// What sends as many agents' messages as wanted.
const SIMULATOR: Build =
    Build { by: By::CargoExample("simulated_agents"), folder: "", package: "torr-fleet", tells: &[] };
/// The seconds of its plan.
const SIMULATED_SECONDS: u64 = 10;
/// How long agents may take until they are there, and a run beside its own time.
const PATIENCE: Duration = Duration::from_secs(60);

/// A report, as it is archived.
#[derive(Serialize)]
struct Report {
    schema: &'static str,
    started_at: String,
    machine: Machine,
    runs: Vec<Run>,
}

/// A run over a fleet, as its result and its coordinator tell.
#[derive(Serialize)]
struct Run {
    /// What it is to show.
    what: &'static str,
    agents: u32,
    seconds: u64,
    /// Requests per second of all agents together.
    rate: u64,
    /// Responses in percent of the requests that the rate makes.
    responses_percent: f64,
    errors: u64,
    /// Between the first agent's beginning and the last one's, in microseconds.
    start_spread_us: u64,
    /// The most by which an agent began before or after the set time, in microseconds.
    began_us: u64,
    /// The largest error of a clock, in microseconds.
    clock_error_us: u64,
    /// The coordinator's CPU time in seconds, and how long it ran.
    coordinator_cpu_s: f64,
    coordinator_wall_s: f64,
    /// The peak of the coordinator's resident memory.
    coordinator_peak_kib: u64,
}

/// A NATS server, the program, and a folder for all that is started.
struct Site<'s> {
    torr: &'s str,
    nats: u16,
    folder: &'s Path,
}

/// Makes all runs, prints the table and archives it.
pub fn run(options: &FleetOptions) -> Result<(), Error> {
    interrupt::install()?;
    machine::check(1000)?;
    let nats_server = on_path("nats-server").ok_or_else(|| Error::failed("nats-server is not on the PATH"))?;
    let roster = Roster::torr(options.run.torr.as_deref())?;
    let simulator = match &options.simulator {
        Some(given) => fs::canonicalize(given)
            .map_err(|error| Error::Usage(format!("--simulator {}: {error}", given.display())))?,
        None => SIMULATOR.run()?,
    };
    let (started, machine) = (SystemTime::now(), Machine::describe(&roster));
    let folder = tempfile::tempdir()?;
    let (folder, torr) = (folder.path(), roster.program(TORR));
    let (nats, port) = (free_port()?, free_port()?);
    let arguments = words(&format!("-a 127.0.0.1 -p {nats}"));
    let _nats = Server::on_all_cpus("nats-server", nats, &nats_server.to_string_lossy(), &arguments, folder)?;
    let serve = words(&format!("serve --workers 1 --listen 127.0.0.1:{port}"));
    let _target = Server::start("torr serve", port, torr, &serve, folder)?;
    let site = Site { torr, nats, folder };
    let url = format!("http://127.0.0.1:{port}/");
    let seconds = if options.quick { 5 } else { 60 };
    let mut runs = Vec::new();
    for (what, agents, seconds, rate) in
        [("a rate is kept", 4, seconds, 4000), ("agents begin together", options.agents, 5, 1000)]
    {
        let _agents = site.start_agents(agents)?;
        runs.push(site.run(what, agents, seconds, rate, &url)?);
    }
    let arguments = words(&format!("nats://127.0.0.1:{nats} {}", options.simulated));
    let simulator = simulator.to_string_lossy();
    let _simulated = Beside::start_on(SERVER_CPU, "simulated agents", &simulator, &arguments, folder)?;
    site.wait_for(options.simulated)?;
    let simulated = u64::from(options.simulated);
    runs.push(site.run("intervals are taken", options.simulated, SIMULATED_SECONDS, simulated * 1000, &url)?);

    let report = Report { schema: "torr.bench.fleet/1", started_at: archive::moment(started), machine, runs };
    let text = markdown(&report);
    archive::show(&options.run, &report.started_at, &report.machine, "fleet", &report, &text)
}

impl Site<'_> {
    /// Starts agents one after another, as machines that are not each other's would be, and waits until all are there.
    fn start_agents(&self, count: u32) -> Result<Vec<Beside>, Error> {
        let start = |number| {
            let agent = format!("fleet agent --nats nats://127.0.0.1:{} --name a{number} --ceiling 1000", self.nats);
            Beside::start_on(ALL_CPUS, "torr fleet agent", self.torr, &words(&agent), self.folder)
        };
        let mut agents = Vec::new();
        for number in 0..count {
            agents.push(start(number)?);
            if number % 10 == 9 {
                self.wait_for(number + 1)?;
            }
        }
        self.wait_for(count)?;
        Ok(agents)
    }

    /// Waits until so many agents respond.
    fn wait_for(&self, agents: u32) -> Result<(), Error> {
        let begun = Instant::now();
        let list = words(&format!("fleet list --wait 500ms --nats nats://127.0.0.1:{}", self.nats));
        loop {
            let listed = child::run("torr fleet list", self.torr, &list, self.folder, PATIENCE)?;
            // Below the names of the columns.
            let there = listed.stdout.lines().count().saturating_sub(1);
            if there >= agents as usize {
                return Ok(());
            }
            if begun.elapsed() > PATIENCE {
                return Err(Error::failed(format!("{there} of {agents} agents came")));
            }
        }
    }

    fn run(&self, what: &'static str, agents: u32, seconds: u64, rate: u64, url: &str) -> Result<Run, Error> {
        let connections = agents.max(100);
        let line = format!(
            "fleet run --nats nats://127.0.0.1:{} --agents {agents} -- {url} -r {rate} -c {connections} -t 1 -d {seconds}s -q \
             --json -",
            self.nats
        );
        let limit = Duration::from_secs(seconds) + PATIENCE;
        let ended = child::run("torr fleet run", self.torr, &words(&line), self.folder, limit)?;
        let result: Value = serde_json::from_str(&ended.stdout).map_err(Error::at("the result of a fleet"))?;
        Run::of(&result, &ended, (what, agents, seconds, rate))
            .ok_or_else(|| Error::failed("it is a result of another kind"))
    }
}

impl Run {
    fn of(result: &Value, ended: &Ended, (what, agents, seconds, rate): (&'static str, u32, u64, u64)) -> Option<Self> {
        let rows = result.pointer("/fleet/agents")?.as_array()?;
        let began = rows.iter().filter_map(|row| Some(row["began_us"].as_i64()?.unsigned_abs()));
        let errors = rows.iter().filter_map(|row| row["errors"].as_u64()).sum();
        Some(Self {
            what,
            agents,
            seconds,
            rate,
            responses_percent: result["requests"].as_u64()? as f64 * 100.0 / (rate * seconds) as f64,
            errors,
            start_spread_us: result.pointer("/fleet/start_spread_us")?.as_u64()?,
            began_us: began.max().unwrap_or(0),
            clock_error_us: rows.iter().filter_map(|row| row["clock_error_us"].as_u64()).max()?,
            coordinator_cpu_s: ended.cpu_seconds,
            coordinator_wall_s: ended.wall_seconds,
            coordinator_peak_kib: ended.peak_memory_kib,
        })
    }
}

fn markdown(report: &Report) -> String {
    let header = [
        "what",
        "agents",
        "s",
        "rate/s",
        "responses of due, %",
        "errors",
        "beginnings apart, us",
        "from the set time, us",
        "clock error, us",
        "coordinator, CPU s",
        "its time, s",
        "its peak, MiB",
    ];
    let row = |run: &Run| {
        vec![
            run.what.to_owned(),
            run.agents.to_string(),
            run.seconds.to_string(),
            run.rate.to_string(),
            format!("{:.3}", run.responses_percent),
            run.errors.to_string(),
            run.start_spread_us.to_string(),
            run.began_us.to_string(),
            run.clock_error_us.to_string(),
            format!("{:.2}", run.coordinator_cpu_s),
            format!("{:.1}", run.coordinator_wall_s),
            format!("{:.1}", run.coordinator_peak_kib as f64 / 1024.0),
        ]
    };
    let rows: Vec<Vec<String>> =
        std::iter::once(header.map(str::to_owned).to_vec()).chain(report.runs.iter().map(row)).collect();
    let (started, revision) = (&report.started_at, &report.machine.revision);
    let mut text = format!("# Fleets, {started}, revision {revision}\n\n");
    text += "Agents, NATS, the target and the coordinator share this machine's CPUs. Agents of the last run are simulated by one \
             process, which sends what real ones would of 1,000 requests a second each, and loads nothing.\n\n";
    text += &archive::on(&report.machine);
    text + "\n" + &table(&rows)
}
