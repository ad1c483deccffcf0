//! What `torr compare` can show: differences that are planted in a service, and how often a comparison finds them.

mod archive;
mod calibration;
mod comparison;
mod order;
pub mod planted;
mod report;
mod tally;

use std::io::{Write, stdout};
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use clap::Args;
use clap::builder::RangedU64ValueParser;

use crate::archive::moment;
use crate::candidates::TORR;
use crate::machine::{self, Machine};
use crate::roster::Roster;
use archive::{Archive, Header};
use calibration::Calibration;
use comparison::Comparer;
use order::{Task, order};
use torr_test_support::error::Error;
use torr_test_support::interrupt;

/// How many comparisons are made, and for how long.
#[derive(Args)]
pub struct PowerOptions {
    /// Compare each difference this many times
    #[arg(long, value_name = "N", default_value_t = 40, value_parser = RangedU64ValueParser::<usize>::new().range(1..))]
    pub comparisons: usize,
    /// The budget of each comparison
    #[arg(long, value_name = "TIME", default_value = "5m", value_parser = humantime::parse_duration)]
    pub budget: Duration,
    /// The planted differences in percent of the CPU time of a request
    #[arg(long, value_name = "PERCENT,..", value_delimiter = ',', default_value = "0,1,2,3,5,10")]
    #[arg(value_parser = RangedU64ValueParser::<u32>::new().range(0..=20))]
    pub differences: Vec<u32>,
    /// Run this many programs beside each comparison that want a CPU for some seconds, again and again
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub neighbours: usize,
    /// Continue the archive of an interrupted run, or add comparisons with another number of neighbours
    #[arg(long, value_name = "FOLDER")]
    pub resume: Option<PathBuf>,
    /// The torr program to measure, instead of building this tree's
    #[arg(long, value_name = "PATH")]
    pub torr: Option<PathBuf>,
}

/// Makes the comparisons that the archive lacks. An error if what is archived misses an aim.
pub fn run(options: &PowerOptions) -> Result<(), Error> {
    interrupt::install()?;
    machine::check(100)?;
    let roster = Roster::torr(options.torr.as_deref())?;
    let torr = roster.program(TORR);
    let header = Header::new(moment(SystemTime::now()), options.budget, Machine::describe(&roster));
    let mut archive = match &options.resume {
        Some(folder) => Archive::resume(folder, &header)?,
        None => Archive::begin(header)?,
    };
    let name = archive.folder().file_name().unwrap_or_default().display();
    eprintln!("archived in bench/runs/{name}; continue with --resume bench/runs/{name}");
    let done = complete(&mut archive, options, torr);
    // What was measured before a failure or Ctrl-C is archived, and is in the report.
    let text = report::write(&archive)?;
    // A reader that has left has seen enough.
    let _ = stdout().write_all(text.as_bytes());
    done?;
    match tally::missed(archive.entries()) {
        missed if missed.is_empty() => Ok(()),
        missed => Err(Error::failed(missed.join("; "))),
    }
}

/// Makes each comparison that the archive does not have.
fn complete(archive: &mut Archive, options: &PowerOptions, torr: &str) -> Result<(), Error> {
    let mut tasks = order(&options.differences, options.comparisons);
    tasks.retain(|task| !archive.has(task, options.neighbours));
    if tasks.is_empty() {
        return Ok(());
    }
    for kind in planted::Kind::ALL {
        if archive.calibration(kind).is_none() {
            eprintln!("calibrating: {kind}");
            archive.add_calibration(Calibration::measure(kind, torr)?)?;
        }
    }
    let (comparer, count) = (Comparer::new(torr, options.budget, options.neighbours)?, tasks.len());
    for (number, task) in (1..).zip(tasks) {
        let Task { difference, kind, .. } = task;
        eprintln!("{number} of {count}: {difference}% more, {kind}");
        let calibration = archive.calibration(kind).expect("each kind was calibrated above").clone();
        archive.add(comparer.compare(&task, &calibration)?)?;
    }
    Ok(())
}
