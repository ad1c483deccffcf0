//! The archive: each run in a folder of its own, as JSON for programs and as Markdown for people.

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::time::SystemTime;

use serde::Serialize;

use crate::built::workspace;
use crate::candidates::TORR;
use crate::machine::Machine;
use crate::measure::Measured;
use crate::options::{Options, RunOptions};
use crate::report;
use torr_test_support::error::Error;

/// A whole run, as it is archived.
#[derive(Serialize)]
pub struct Run<'a> {
    /// Name and version of this format.
    schema: &'static str,
    /// Start of the run, UTC.
    started_at: String,
    /// Rounds per scenario.
    rounds: u32,
    /// Length of one turn.
    turn_seconds: u32,
    /// Short turns, few rounds: not to be relied on.
    quick: bool,
    /// Where it was run.
    machine: Machine,
    /// What came of it.
    scenarios: &'a [Measured],
}

impl<'a> Run<'a> {
    /// Puts a run together.
    pub fn new(started: SystemTime, options: &Options, machine: Machine, measured: &'a [Measured]) -> Self {
        Run {
            schema: "torr.bench/2",
            started_at: moment(started),
            rounds: options.size.rounds(),
            turn_seconds: options.size.seconds(),
            quick: options.size.quick,
            machine,
            scenarios: measured,
        }
    }

    fn markdown(&self) -> String {
        let m = &self.machine;
        let mut text = format!("# Cost per request, {}, revision {}\n\n", self.started_at, m.revision);
        text += &format!(
            "Measured by `torr-bench`: server on CPU 0, load on CPU 1, {} rounds of {} s turns, the order reversed every other \
             round. Each ratio is between turns of the same round; shown are the median over the rounds and the range. CPU time \
             covers a turn from its start to its end, connections opened and closed included; the floor's load only counts up to \
             the end of its loop, as where the figures to reach come from, and `x whole floor` counts all of it.\n\n",
            self.rounds, self.turn_seconds
        );
        if self.quick {
            text += "**A quick run: it shows that all works, not what it costs.**\n\n";
        }
        text += &on(m);
        text + &report::tables(self.scenarios)
    }
}

/// What a run was made on, as a list.
pub fn on(m: &Machine) -> String {
    let mut text = format!("- {}, {} cores, {} MiB; Linux {}; {}\n", m.cpu, m.cores, m.memory_mib, m.kernel, m.rustc);
    text += &format!("- load average before the run: {}\n", m.load_average);
    for (name, version) in &m.tools {
        text += &format!("- {name}: {version}\n");
    }
    if m.tools.contains_key(TORR) && !m.torr_is_this_revision {
        text += "- torr was given by `--torr`, and need not be of this revision\n";
    }
    if !m.left_out.is_empty() {
        text += &format!("- not here, so left out: {}\n", m.left_out.join(", "));
    }
    text
}

/// A time in UTC, to the second.
pub fn moment(time: SystemTime) -> String {
    humantime::format_rfc3339_seconds(time).to_string()
}

/// Returns the folder of all runs.
pub fn runs() -> PathBuf {
    workspace().join("bench/runs")
}

/// Returns the name of a run's folder, `YYYY-MM-DD-HHMM-REVISION`.
pub fn folder(started_at: &str, machine: &Machine) -> String {
    let (day, time) = started_at.split_once('T').expect("RFC 3339");
    format!("{day}-{}-{}", time[..5].replace(':', ""), machine.revision)
}

/// Writes a run into its folder, and returns the folder's name.
pub fn write(run: &Run<'_>) -> Result<String, Error> {
    put(&run.started_at, &run.machine, "run", run, &run.markdown())
}

/// Prints a report, and archives it unless the run is not kept.
pub fn show(
    options: &RunOptions,
    started_at: &str,
    machine: &Machine,
    name: &str,
    json: &impl Serialize,
    md: &str,
) -> Result<(), Error> {
    let _ = std::io::stdout().write_all(md.as_bytes()); // a reader that is gone misses only the screen
    if !options.no_archive {
        let run = put(started_at, machine, name, json, md)?;
        eprintln!("archived in bench/runs/{run}");
    }
    Ok(())
}

/// Writes a report as `NAME.json` and `NAME.md` into the run's folder, `YYYY-MM-DD-HHMM-REVISION`, and returns that.
pub fn put(started_at: &str, machine: &Machine, name: &str, json: &impl Serialize, md: &str) -> Result<String, Error> {
    let run = folder(started_at, machine);
    let folder = runs().join(&run);
    let write = || -> std::io::Result<()> {
        fs::create_dir_all(&folder)?;
        fs::write(folder.join(format!("{name}.json")), serde_json::to_string_pretty(json)? + "\n")?;
        fs::write(folder.join(format!("{name}.md")), md)
    };
    write().map_err(Error::at(format!("cannot archive bench/runs/{run}")))?;
    Ok(run)
}
