//! Where each way to a database spends its time: the service is sampled while it is pressed, and its functions are sorted into parts.

mod naming;
pub mod options;
mod parts;
mod plot;
mod report;
mod sampling;
mod turns;

use std::fs;
use std::io::Write;
use std::time::SystemTime;

use self::options::WhereOptions;
use self::report::Report;
use crate::archive;
use crate::built::workspace;
use crate::candidates::{MARIADB, PERF, POSTGRES, TORR};
use crate::data::scenario::Group;
use crate::machine::{self, Machine};
use crate::roster::Roster;
use torr_test_support::error::Error;
use torr_test_support::interrupt;

/// The databases, in the order of the plot.
const GROUPS: [Group; 3] = [Group::SqliteMemory, Group::Mariadb, Group::Postgres];

/// Measures, prints the tables, draws the plot and archives both.
pub fn run(options: &WhereOptions) -> Result<(), Error> {
    interrupt::install()?;
    machine::check(options.connections)?;
    let roster = Roster::find(
        &[],
        options.run.torr.as_deref(),
        |tool| [TORR, PERF, MARIADB, POSTGRES].contains(&tool),
        |_| false,
    )?;
    let (started, machine) = (SystemTime::now(), Machine::describe(&roster));
    let mut profiles = Vec::new();
    for group in GROUPS {
        profiles.extend(turns::measure(&roster, options, group)?);
    }
    let report = Report::new(archive::moment(started), options, machine, profiles);
    let _ = std::io::stdout().write_all(report.tables().as_bytes()); // a reader that is gone misses only the screen
    let svg = options.svg.clone().unwrap_or_else(|| workspace().join("bench/orm-cost.svg"));
    fs::write(&svg, plot::svg(&report.profiles)).map_err(Error::at(format!("cannot write {}", svg.display())))?;
    if !options.run.no_archive {
        let folder = archive::put(&report.started_at, &report.machine, "where", &report, &report.markdown())?;
        eprintln!("archived in bench/runs/{folder}");
    }
    Ok(())
}
