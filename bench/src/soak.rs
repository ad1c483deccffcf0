//! Hours of load on both sides, with reloads and disturbances: nothing may grow, and no failure may be unexplained.

mod account;
mod disk;
mod link;
mod loads;
mod others;
mod report;
mod trend;

use std::io::Write;
use std::path::Path;
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, SystemTime};

use clap::Args;
use rustix::process::Signal;
use torr_test_support::databases;
use torr_test_support::error::Error;
use torr_test_support::interrupt;

use crate::archive;
use crate::candidates::arguments::words;
use crate::candidates::{TORR, certificate};
use crate::child::{Beside, Server, free_port};
use crate::machine::{self, Machine};
use crate::options::RunOptions;
use crate::probe;
use crate::roster::Roster;
use crate::sessions;
use account::{Kind, Outcome, Window, seconds_since};
use disk::Disk;
use link::Link;
use loads::{Load, Ports};
use others::Others;
use trend::{Samples, WARM_UP, children};

/// How long and how hard servers and load generators are soaked.
#[derive(Args)]
pub struct SoakOptions {
    /// How long the load lasts, such as 3m
    #[arg(long = "for", value_name = "TIME", default_value = "2h", value_parser = humantime::parse_duration)]
    pub length: Duration,
    /// The load, in percent of what a short closed loop reached
    #[arg(long, default_value_t = 70, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub share: u32,
    /// What is measured, and whether it is kept.
    #[command(flatten)]
    pub run: RunOptions,
}

/// Seconds from one sample to the next, and of the first.
const SAMPLE: (f64, f64) = (10.0, 5.0);
/// Seconds from one reload to the next, and of the first.
const RELOAD: (f64, f64) = (60.0, 20.0);
/// Seconds from one other disturbance to the next, and of the first; their kinds take turns.
const DISTURB: (f64, f64) = (60.0, 46.0);
/// How long a link is cut and a disk is full.
const HELD: Duration = Duration::from_secs(3);
/// The access log, on the small disk.
const LOG: &str = "access.log";

/// All that is loaded and disturbed. What stands first is ended first.
struct World {
    running: Vec<Beside>,
    plain: Server,
    tls: Server,
    database: databases::Server,
    link: Link,
    disk: Option<Disk>,
}

/// Runs it, prints the report and archives it. An error if anything grew, or a failure or request is not accounted for.
pub fn run(options: &SoakOptions) -> Result<(), Error> {
    let seconds = options.length.as_secs();
    if seconds < 120 {
        return Err(Error::Usage("--for takes at least 2m: a warm-up, and some reloads".into()));
    }
    disk::enter_namespace()?;
    interrupt::install()?;
    machine::check(1000)?;
    let roster = Roster::torr(options.run.torr.as_deref())?;
    let (torr, machine) = (roster.program(TORR), Machine::describe(&roster));
    let folder = tempfile::tempdir()?;
    sessions::write_files(folder.path())?;
    let mut world = World::start(torr, folder.path())?;
    let ports = Ports { plain: world.plain.port(), tls: world.tls.port(), link: world.link.port };
    let mut loads = loads::all(&ports);
    loads::find_rates(&mut loads, torr, folder.path(), if seconds < 1200 { 5 } else { 15 }, options.share)?;

    let (start, mut others) = (SystemTime::now(), Others::begin());
    world.running = loads.iter().map(|load| load.start(torr, folder.path(), seconds)).collect::<Result<_, _>>()?;
    let (samples, windows) = world.soak(&loads, start, seconds as f64, torr, &mut others)?;
    let shares = others.shares();
    let mut outcomes = Vec::new();
    for (load, program) in loads.iter().zip(std::mem::take(&mut world.running)) {
        let result = loads::result(load.name, program, seconds)?;
        let outcome = Outcome::of(load, &result, start, &windows);
        outcomes.push(outcome.ok_or_else(|| Error::failed(format!("{}: a result of another kind", load.name)))?);
    }

    let is_disturbed = |t| windows.iter().any(|window: &Window| window.covers(t, t));
    let mut left_out = vec!["clocks set: the clock of a namespace cannot be set once programs run in it"];
    left_out.extend(world.disk.is_none().then_some("disk full: it takes root"));
    let report = report::Report {
        schema: "torr.bench.soak/1",
        started_at: archive::moment(start),
        seconds,
        share_percent: options.share,
        warm_up_seconds: seconds as f64 * WARM_UP,
        machine,
        trends: samples.trends(seconds as f64, is_disturbed),
        reloads: report::Reloads::of(&[&world.plain, &world.tls])?,
        shares,
        left_out,
        loads: outcomes,
        disturbances: windows,
    };
    let text = report.markdown();
    let _ = std::io::stdout().write_all(text.as_bytes()); // a reader that is gone misses only the screen
    if !options.run.no_archive {
        let run = archive::put(&report.started_at, &report.machine, "soak", &report, &text)?;
        eprintln!("archived in bench/runs/{run}");
    }
    match report.complaints() {
        complaints if complaints.is_empty() => Ok(()),
        complaints => Err(Error::failed(complaints.join("; "))),
    }
}

impl World {
    /// Starts servers, database, link and disk.
    fn start(torr: &str, folder: &Path) -> Result<Self, Error> {
        let disk = Disk::mount(folder)?;
        let database = databases::Server::start(databases::Make::Postgres);
        let serve = |name, more: &str| {
            let port = free_port()?;
            let line = format!("serve --processes 2 --workers 1 --listen 127.0.0.1:{port} {more}");
            Server::start(name, port, torr, &words(&line), folder)
        };
        let log = disk.as_ref().map(|disk| format!("--access-log {}", disk.path(LOG).display())).unwrap_or_default();
        let plain = serve("torr serve", &format!("--database {} --db-rows 1000 {log}", database.new_database()))?;
        let [certificate, key] = certificate::files(folder)?;
        let (certificate, key) = (certificate.display(), key.display());
        let tls = serve("torr serve, TLS", &format!("--db-rows 1000 --tls-cert {certificate} --tls-key {key}"))?;
        probe::page(plain.port(), "/db/raw")?; // its tables are filled then
        let link = Link::start(plain.port())?;
        Ok(Self { running: Vec::new(), plain, tls, database, link, disk })
    }

    /// Samples and disturbs until all loads have ended.
    fn soak(
        &mut self,
        loads: &[Load],
        start: SystemTime,
        length: f64,
        torr: &str,
        others: &mut Others,
    ) -> Result<(Samples, Vec<Window>), Error> {
        let (mut samples, mut windows) = (Samples::default(), Vec::new());
        let (mut sample_at, mut reload_at, mut disturb_at) = (SAMPLE.1, RELOAD.1, DISTURB.1);
        let mut turns = [Kind::DatabaseRestart, Kind::LinkCut, Kind::DiskFull].into_iter().cycle();
        while !self.running.iter().all(Beside::has_ended) {
            interrupt::check()?;
            let now = seconds_since(start);
            let may_disturb = now < length - 10.0; // what it does is over before the load
            if now >= sample_at && now < length {
                self.sample(&mut samples, loads, now)?;
                sample_at += SAMPLE.0;
            } else if now >= reload_at && may_disturb {
                self.reload(now < length * WARM_UP)?;
                windows.push(Window { kind: Kind::Reload, begin: now, end: now });
                reload_at += RELOAD.0;
            } else if now >= disturb_at && may_disturb {
                let kind = turns.find(|&kind| kind != Kind::DiskFull || self.disk.is_some()).expect("it goes round");
                self.disturb(kind, torr, others)?;
                windows.push(Window { kind, begin: now, end: seconds_since(start) });
                disturb_at += DISTURB.0;
            }
            sleep(Duration::from_millis(100));
        }
        Ok((samples, windows))
    }

    fn sample(&self, samples: &mut Samples, loads: &[Load], now: f64) -> Result<(), Error> {
        for (name, server) in [("serve", &self.plain), ("serve, TLS", &self.tls)] {
            samples.take(&format!("{name}: supervisor"), &[server.pid()], now);
            samples.take(&format!("{name}: workers"), &children(server.pid()), now);
        }
        for (load, program) in loads.iter().zip(&self.running) {
            samples.take(&format!("load: {}", load.name), &[program.pid()], now);
        }
        match &self.disk {
            Some(disk) => disk.keep_small(LOG),
            None => Ok(()),
        }
    }

    /// Reloads the server without TLS, and in the warm-up the other one: its workers grow old from then on.
    fn reload(&self, warm_up: bool) -> Result<(), Error> {
        self.plain.signal(Signal::HUP)?;
        if warm_up { self.tls.signal(Signal::HUP) } else { Ok(()) }
    }

    fn disturb(&mut self, kind: Kind, torr: &str, others: &mut Others) -> Result<(), Error> {
        match kind {
            Kind::Reload => self.plain.signal(Signal::HUP)?,
            Kind::DatabaseRestart => {
                others.before_killing(self.database.pid());
                self.database.kill();
                self.database.start_again();
            }
            Kind::LinkCut => {
                self.link.cut();
                sleep(HELD);
                self.link.mend();
            }
            Kind::DiskFull => {
                let Some(disk) = &self.disk else { return Ok(()) };
                disk.fill()?;
                let wrote = write_result(torr, self.plain.port(), &disk.path("result.json"));
                sleep(HELD);
                disk.free()?;
                wrote?;
            }
        }
        Ok(())
    }
}

/// A small run whose result finds no room: it has to end with exit code 1 and to say why.
fn write_result(torr: &str, port: u16, result: &Path) -> Result<(), Error> {
    let url = format!("http://127.0.0.1:{port}/json");
    let ended =
        Command::new(torr).args([&url, "-t", "1", "-c", "1", "-n", "10", "-q", "--json"]).arg(result).output()?;
    let said = String::from_utf8_lossy(&ended.stderr);
    match ended.status.code() == Some(1) && said.contains("space") {
        true => Ok(()),
        false => Err(Error::failed(format!("a result on a full disk ended with {:?}: {}", ended.status, said.trim()))),
    }
}
