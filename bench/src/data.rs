//! The ways to a database: what each costs through HTTP, against the raw driver and against peers.

pub mod candidates;
pub mod check;
mod compare;
pub mod database;
mod figures;
pub mod options;
mod report;
pub mod scenario;
pub mod turns;
mod world;

use std::io::Write;
use std::time::SystemTime;

use torr_test_support::databases::Make;

use self::candidates::{CANDIDATES, candidate};
use self::compare::Measured;
use self::options::DataOptions;
use self::report::Report;
use self::scenario::Scenario;
use crate::archive;
use crate::candidates::{MARIADB, POSTGRES, TORR};
use crate::machine::{self, Machine};
use crate::roster::Roster;
use torr_test_support::error::Error;
use torr_test_support::interrupt;

/// Measures, prints the tables and archives them.
pub fn run(options: &DataOptions) -> Result<(), Error> {
    interrupt::install()?;
    machine::check(options.connections)?;
    let scenarios = scenario::all(&options.styles, &options.operations);
    if scenarios.is_empty() {
        return Err(Error::Usage("nothing of --operations is in the groups of --styles".into()));
    }
    let roster = roster(options, &scenarios)?;
    let (started, machine) = (SystemTime::now(), Machine::describe(&roster));

    let mut measured: Vec<Measured> = Vec::new();
    let ended = scenarios
        .chunk_by(|a, b| a.group == b.group)
        .try_for_each(|of_group| turns::measure(&roster, options, of_group[0].group, of_group, &mut measured));
    let _ = std::io::stdout().write_all(report::tables(&measured).as_bytes()); // a reader that is gone misses only the screen
    ended?; // what was measured before a failure or Ctrl-C is on the screen, but only a whole run is archived

    let ours = |m: &Measured| m.skipped.iter().filter(|s| candidate(s.candidate).tool == TORR).count();
    let failed: usize = measured.iter().map(ours).sum();
    if !options.run.no_archive {
        let report = Report::new(archive::moment(started), options, machine, measured);
        let folder = archive::put(&report.started_at, &report.machine, "data", &report, &report.markdown())?;
        eprintln!("archived in bench/runs/{folder}");
    }
    match failed {
        0 => Ok(()),
        n => Err(Error::failed(format!("torr itself could not be measured {n} times, see the tables"))),
    }
}

/// The programs: `torr` is the load too, and the databases are there for all.
fn roster(options: &DataOptions, scenarios: &[Scenario]) -> Result<Roster, Error> {
    let makes: Vec<Make> = scenarios.iter().filter_map(|scenario| scenario.group.make()).collect();
    let is_instrument = |tool: &str| match tool {
        MARIADB => makes.contains(&Make::MariaDb),
        POSTGRES => makes.contains(&Make::Postgres),
        _ => tool == TORR,
    };
    let takes_part =
        |tool: &str| CANDIDATES.iter().any(|c| c.tool == tool && scenarios.iter().any(|s| c.takes_part(*s)));
    Roster::find(&options.only, options.run.torr.as_deref(), is_instrument, takes_part)
}
