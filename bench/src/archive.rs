//! The archive: each run in a folder of its own, as JSON for programs and as Markdown for people.

use std::fs;
use std::time::SystemTime;

use serde::Serialize;

use crate::cli::Options;
use crate::error::Error;
use crate::machine::Machine;
use crate::measure::Measured;
use crate::report;
use crate::torr_binary::workspace;

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
            started_at: humantime::format_rfc3339_seconds(started).to_string(),
            rounds: options.rounds(),
            turn_seconds: options.seconds(),
            quick: options.quick,
            machine,
            scenarios: measured,
        }
    }

    /// `YYYY-MM-DD-HHMM-REVISION`.
    fn name(&self) -> String {
        let (day, time) = self.started_at.split_once('T').expect("RFC 3339");
        format!("{day}-{}-{}", time[..5].replace(':', ""), self.machine.revision)
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
        text += &format!("- {}, {} cores, {} MiB; Linux {}; {}\n", m.cpu, m.cores, m.memory_mib, m.kernel, m.rustc);
        text += &format!("- load average before the run: {}\n", m.load_average);
        for (name, version) in &m.tools {
            text += &format!("- {name}: {version}\n");
        }
        if m.tools.contains_key("torr") && !m.torr_is_this_revision {
            text += "- torr was given by `--torr`, and need not be of this revision\n";
        }
        if !m.left_out.is_empty() {
            text += &format!("- not here, so left out: {}\n", m.left_out.join(", "));
        }
        text + &report::tables(self.scenarios)
    }
}

/// Writes a run into its folder, and returns the folder's name.
pub fn write(run: &Run<'_>) -> Result<String, Error> {
    let name = run.name();
    let folder = workspace().join("bench/runs").join(&name);
    let write = || -> std::io::Result<()> {
        fs::create_dir_all(&folder)?;
        fs::write(folder.join("run.json"), serde_json::to_string_pretty(run)? + "\n")?;
        fs::write(folder.join("run.md"), run.markdown())
    };
    write().map_err(Error::at(format!("cannot archive bench/runs/{name}")))?;
    Ok(name)
}
