//! The command line.

use crate::judge::Judge;
use crate::{relay, service};
use clap::{Args, Parser, Subcommand};
use std::path::PathBuf;
use std::time::Duration;
use torr_test_support::error::Error;

/// Services with planted faults, one after another, and what Torr's doctor says of each
#[derive(Parser)]
#[command(name = "torr-clinic", version, args_conflicts_with_subcommands = true)]
pub struct Cli {
    #[command(subcommand)]
    pub role: Option<Role>,
    #[command(flatten)]
    pub options: Options,
}

/// What the clinic does beside rounds. The hidden commands are those that it starts of itself.
#[derive(Subcommand)]
pub enum Role {
    /// List the cases for another tool, without names and labels, as lines of JSON
    Cases(CasesOptions),
    /// Start a case, describe it in a line of JSON, and keep it until Ctrl-C
    Up(UpOptions),
    /// Judge a file of verdicts
    Judge(JudgeOptions),
    /// A service with chosen faults
    #[command(hide = true)]
    Service(service::OptionsFile),
    /// A link with a delay
    #[command(hide = true)]
    Relay(relay::Options),
}

/// The options of the list of cases.
#[derive(Args)]
pub struct CasesOptions {
    /// Also list the cases that cannot be started here, with the reason
    #[arg(long)]
    pub all: bool,
}

/// The options of a case that stays up.
#[derive(Args)]
pub struct UpOptions {
    /// The id of the case, or its name
    pub case: String,
    /// Start the service after its fault was mended
    #[arg(long)]
    pub cured: bool,
    /// Run this many programs beside it that want a CPU for some seconds, again and again
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub neighbours: usize,
    #[command(flatten)]
    pub torr: Torr,
}

/// The options of the judgement of a file.
#[derive(Args)]
pub struct JudgeOptions {
    /// The verdicts, as clinic/verdicts.schema.json describes them
    #[arg(value_name = "FILE")]
    pub verdicts: PathBuf,
    /// Measure the gain of each cure, to judge the promises
    #[arg(long)]
    pub gains: bool,
    /// The programs that came and went beside each case, if any
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub neighbours: usize,
    /// Write the record here
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Write a table in Markdown here
    #[arg(long, value_name = "FILE")]
    pub markdown: Option<PathBuf>,
    #[command(flatten)]
    pub torr: Torr,
}

/// The program that is tried, and that loads services.
#[derive(Args)]
pub struct Torr {
    /// The torr program [default: the one beside this program]
    #[arg(long = "torr", value_name = "PATH")]
    path: Option<PathBuf>,
}

/// The options of the round.
#[derive(Args)]
pub struct Options {
    #[command(flatten)]
    torr: Torr,
    /// Only these subjects; 'lock-*' is all whose names begin so
    #[arg(long, value_name = "NAME,..", value_delimiter = ',')]
    pub only: Vec<String>,
    /// List the subjects with their labels, and start none
    #[arg(long)]
    pub list: bool,
    /// Let a plain run of 5 s judge, not the doctor
    #[arg(long)]
    pub passive: bool,
    /// Press each for 2 s, and its cured form, and print the figures: is it up, with the fault of its label?
    #[arg(long, conflicts_with = "passive")]
    pub dry: bool,
    /// Let this command of a shell judge: it finds $URL and $CASE in its environment, and writes its verdict to $VERDICT
    #[arg(long, value_name = "COMMAND", conflicts_with_all = ["passive", "dry", "record"])]
    pub by: Option<String>,
    /// Run this many programs beside each diagnosis that want a CPU for some seconds, again and again
    #[arg(long, value_name = "N", default_value_t = 0, conflicts_with = "dry")]
    pub neighbours: usize,
    /// Seed for the times at which the neighbours run
    #[arg(long, value_name = "SEED", default_value_t = 0, requires = "neighbours")]
    pub weather: u64,
    /// How many times each is diagnosed
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub repeat: usize,
    /// The doctor's budget for each
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = humantime::parse_duration)]
    pub budget: Duration,
    /// Write the whole record here, each diagnosis' trail included
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Write a table of all verdicts in Markdown here
    #[arg(long, value_name = "FILE", conflicts_with = "dry")]
    pub markdown: Option<PathBuf>,
    /// Write each diagnosis' observations into this folder, as recordings that the doctor's tests replay
    #[arg(long, value_name = "DIR", conflicts_with_all = ["passive", "dry"])]
    pub record: Option<PathBuf>,
    /// Keep each diagnosis in this folder
    #[arg(long, value_name = "DIR")]
    pub keep: Option<PathBuf>,
}

impl Options {
    /// Returns the path of the program that is tried.
    ///
    /// # Errors
    /// If there is no such file.
    pub fn torr(&self) -> Result<PathBuf, Error> {
        self.torr.torr()
    }

    /// Returns who judges.
    pub fn judge(&self) -> Judge {
        match &self.by {
            Some(line) => Judge::Tool(line.clone(), self.budget),
            None if self.passive => Judge::Passive,
            None => Judge::Doctor(self.budget),
        }
    }
}

impl Torr {
    /// Returns the path of the program.
    ///
    /// # Errors
    /// If there is no such file.
    pub fn torr(&self) -> Result<PathBuf, Error> {
        let beside = || Ok::<_, Error>(std::env::current_exe()?.with_file_name("torr"));
        let torr = self.path.clone().map_or_else(beside, Ok)?;
        torr.canonicalize().map_err(|_| {
            Error::Usage(format!("{} is not there: 'cargo build --release', or name one with --torr", torr.display()))
        })
    }
}
