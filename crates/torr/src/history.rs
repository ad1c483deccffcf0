//! `torr history FILES`: the runs at which a row of archived results changed.

use crate::doctor;
use crate::exit::CliError;
use crate::sink::Sink;
use clap::Args;
use std::fmt::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use torr_lab::history::{History, changes};
use torr_lab::{archive, metric::Metric};
use torr_report::human::{difference, micros, per_second};
use torr_report::style::{FAINT, STRONG, paint};

/// The fewest results in which a change can be found: three on each side, and more so that chance is excluded.
const FEWEST: usize = 6;

/// `torr history`.
#[derive(Debug, Args)]
pub struct HistoryArgs {
    /// Results of 'torr URL --json FILE', or directories of such results, in any order
    #[arg(required = true, value_name = "FILE|DIR")]
    pub paths: Vec<PathBuf>,
    /// Use this seed for the permutation tests
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub seed: u64,
    /// Write the changes as JSON; '-' writes it to standard output, and nothing else
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
}

/// Finds the changes and prints them.
pub fn run(args: &HistoryArgs) -> Result<ExitCode, CliError> {
    let json = args.json.as_deref().map(Sink::open).transpose()?;
    let results = archive::read(&args.paths).map_err(CliError::Usage)?;
    if results.len() < FEWEST {
        return Err(CliError::Usage(format!(
            "expected at least {FEWEST} results, found {}: pass more files, or their directory",
            results.len()
        )));
    }
    let history = changes(&results, args.seed);
    doctor::put(&history, json, || text(&history))?;
    Ok(ExitCode::SUCCESS)
}

fn text(history: &History) -> String {
    let left_out = match history.left_out {
        0 => String::new(),
        count => format!(", {count} left out as invalid"),
    };
    let mut out =
        format!("{} {}\n", paint(STRONG, "history"), paint(FAINT, format!("{} runs{left_out}", history.runs)));
    if history.changes.is_empty() {
        out += "\n  no change\n";
    }
    for change in &history.changes {
        let shown = |value: f64| match change.metric {
            Metric::Throughput | Metric::Events => per_second(value),
            _ => micros(value),
        };
        let by = difference((change.ratio - 1.0).abs());
        let direction = if change.ratio > 1.0 { "rose" } else { "fell" };
        let _ = writeln!(
            out,
            "\n  {} {direction} by {by} at {}: from {} to {}\n    {}",
            change.metric.name(),
            change.run,
            shown(change.before),
            shown(change.since),
            paint(FAINT, format!("the run of {}, after {}; p = {:.3}", change.started_at, change.after, change.p)),
        );
    }
    out
}
