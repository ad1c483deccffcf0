//! `torr history FILES`: the runs at which a row of archived results changed.

mod csv;
mod words;

use crate::doctor;
use crate::exit::CliError;
use crate::output;
use crate::report;
use crate::sink::{self, Sink};
use clap::Args;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use torr_lab::archive;
use torr_lab::history::changes;

/// The fewest results in which a change can be found: three on each side, and more so that chance is excluded.
const FEWEST: usize = 6;
/// The most results: the time that the tests of all permutations take grows with the square of their number.
const MOST: usize = 2000;

/// `torr history`.
#[derive(Debug, Args)]
pub struct HistoryArgs {
    /// Results of 'torr URL --json FILE', or directories of such results, in any order
    #[arg(required = true, value_name = "FILE|DIR")]
    pub paths: Vec<PathBuf>,
    /// Use this seed for the permutation tests
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub seed: u64,
    /// Write the changes and all figures as JSON; '-' writes it to standard output, and nothing else
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Write a page with each metric over the runs, the changes, and what changed beside the code; '-' is standard output
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    /// Write the changes as Markdown, for a comment of a pull request; '-' is standard output
    #[arg(long, value_name = "FILE")]
    pub markdown: Option<PathBuf>,
    /// Write a row of metrics for each run as CSV, as Apache Otava reads it; '-' is standard output
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,
}

impl HistoryArgs {
    fn outputs(&self) -> [(&'static str, Option<&Path>); 4] {
        [
            ("--json", self.json.as_deref()),
            ("--report", self.report.as_deref()),
            ("--markdown", self.markdown.as_deref()),
            ("--csv", self.csv.as_deref()),
        ]
    }
}

/// Finds the changes and writes what is requested.
pub fn run(args: &HistoryArgs) -> Result<ExitCode, CliError> {
    // Outputs may go to the folder that is read, and over no result of it.
    let results = archive::read(&args.paths).map_err(CliError::Usage)?;
    if results.len() < FEWEST {
        return Err(CliError::Usage(format!(
            "expected at least {FEWEST} results, found {}: pass more files, or their directory",
            results.len()
        )));
    }
    if results.len() > MOST {
        return Err(CliError::Usage(format!(
            "expected at most {MOST} results, found {}: pass the newest files only",
            results.len()
        )));
    }
    let inputs: Vec<_> = results.iter().map(|result| ("a result".to_owned(), result.path.clone())).collect();
    let named = args.outputs().into_iter().filter_map(|(flag, path)| Some((flag, path?)));
    sink::check_inputs(named, &inputs)?;
    let [json, page, markdown, csv] = sink::open_all(args.outputs())?;
    let history = changes(&results, args.seed);
    let is_taken = [&json, &page, &markdown, &csv].iter().any(|sink| sink.as_ref().is_some_and(Sink::takes_stdout));
    json.map_or(Ok(()), |json| doctor::write(&history, json))?;
    page.map_or(Ok(()), |page| report::put(&history, page)).map_err(CliError::Failed)?;
    markdown.map_or(Ok(()), |file| file.put(&words::markdown(&history))).map_err(CliError::Failed)?;
    csv.map_or(Ok(()), |file| csv::text(&history).and_then(|text| file.put(&text))).map_err(CliError::Failed)?;
    if !is_taken {
        output::report(&words::text(&history));
    }
    Ok(ExitCode::SUCCESS)
}
