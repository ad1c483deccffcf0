//! `torr lab` on the command line.

use clap::{Args, Subcommand};
use std::path::PathBuf;
use torr_load::values::rounds;

const EXAMPLES: &str = "\
Examples:
  torr lab list                                    suites, and which servers can run
  torr lab run webman-reference --scale 0.2        a fifth of the suite's time
  torr lab run techempower --subject torr-serve --subject gin
  torr lab run techempower --resume                continue an interrupted suite
  torr lab new-subject mine && torr lab run drogon --subject mine.toml --subject nginx";

const RUN: &str = "\
Torr writes each run to the archive as soon as it ends. The servers of a row take turns in random order, and Torr restarts the server for each run.";

/// `torr lab`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, arg_required_else_help = true)]
pub struct LabArgs {
    #[command(subcommand)]
    pub command: LabCommand,
}

/// A command with its arguments.
#[derive(Debug, Subcommand)]
pub enum LabCommand {
    /// List the suites, and the servers (subjects) with what each lacks on this machine
    List,
    /// Show the rows, the length and the subjects of a suite
    Show(ShowArgs),
    /// Run a suite: start each subject, check its responses, load it, and print a table
    Run(RunArgs),
    /// Print the table of an archive
    Table(TableArgs),
    /// Write a template for a subject of your own
    NewSubject(NewSubjectArgs),
}

/// `torr lab show`.
#[derive(Debug, Args)]
pub struct ShowArgs {
    /// A suite of 'torr lab list', or a file of your own
    pub suite: String,
}

/// `torr lab run`.
#[derive(Debug, Args)]
#[command(after_help = RUN)]
pub struct RunArgs {
    /// A suite of 'torr lab list', or a file of your own
    pub suite: String,
    /// Load this subject instead of the suite's: a name of 'torr lab list', or a file of your own; can be repeated
    #[arg(long = "subject", value_name = "NAME|FILE")]
    pub subjects: Vec<String>,
    /// Run only the rows whose names contain this text; can be repeated
    #[arg(long = "row", value_name = "TEXT")]
    pub rows: Vec<String>,
    /// Continue the archive of an interrupted suite
    #[arg(long)]
    pub resume: bool,
    /// Multiply all durations and numbers of requests by this factor
    #[arg(long, default_value_t = 1.0, value_parser = scale, value_name = "FACTOR")]
    pub scale: f64,
    /// Run each cell this many times [default: set by the suite]
    #[arg(long, value_parser = rounds, value_name = "N")]
    pub rounds: Option<usize>,
    /// Write the archive here, one line of JSON per run [default: SUITE.jsonl]
    #[arg(long, value_name = "FILE")]
    pub archive: Option<PathBuf>,
    /// Use this database instead of starting one, as postgres=URL; Torr creates and fills its tables
    #[arg(long = "database", value_name = "NAME=URL", value_parser = database)]
    pub databases: Vec<(String, String)>,
    /// Use this seed for the order of runs [default: random]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    #[command(flatten)]
    pub outputs: OutputArgs,
    /// Do not show progress
    #[arg(short, long)]
    pub quiet: bool,
}

/// `torr lab table`.
#[derive(Debug, Args)]
pub struct TableArgs {
    /// Read this archive of 'torr lab run'
    pub archive: PathBuf,
    #[command(flatten)]
    pub outputs: OutputArgs,
}

/// The outputs of a table.
#[derive(Debug, Args)]
pub struct OutputArgs {
    /// Write the table as Markdown; '-' writes it to standard output, and nothing else
    #[arg(long, value_name = "FILE")]
    pub markdown: Option<PathBuf>,
    /// Write the table as JSON; '-' writes it to standard output, and nothing else
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Write the table as one HTML page; '-' writes it to standard output, and nothing else
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
}

/// `torr lab new-subject`.
#[derive(Debug, Args)]
pub struct NewSubjectArgs {
    /// Write the file NAME.toml
    pub name: String,
}

fn scale(text: &str) -> Result<f64, String> {
    let factor = text.parse::<f64>().ok().filter(|factor| (0.001..=100.0).contains(factor));
    factor.ok_or_else(|| "must be a factor from 0.001 to 100, such as 0.1".into())
}

fn database(text: &str) -> Result<(String, String), String> {
    let (name, url) =
        text.split_once('=').ok_or("must be NAME=URL, such as postgres=postgres://user:password@host/db")?;
    Ok((name.into(), url.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_bounds() {
        assert_eq!(scale("0.1"), Ok(0.1));
        assert!(["0", "-1", "1000", "x", "NaN"].into_iter().all(|text| scale(text).is_err()));
        assert!(database("postgres").is_err() && database("postgres=postgres://a/b?c=d").is_ok());
    }
}
