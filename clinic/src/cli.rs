//! The command line.

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

/// The hidden commands that the clinic starts of itself.
#[derive(Subcommand)]
pub enum Role {
    /// A service with chosen faults
    #[command(hide = true)]
    Service(service::Options),
    /// A link with a delay
    #[command(hide = true)]
    Relay(relay::Options),
}

/// The options of the round.
#[derive(Args)]
pub struct Options {
    /// The torr program [default: the one beside this program]
    #[arg(long, value_name = "PATH")]
    pub torr: Option<PathBuf>,
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
    /// How many times each is diagnosed
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub repeat: usize,
    /// The doctor's budget for each
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = humantime::parse_duration)]
    pub budget: Duration,
    /// Write the whole record here, each diagnosis' trail included
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
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
        let beside = || Ok::<_, Error>(std::env::current_exe()?.with_file_name("torr"));
        let torr = self.torr.clone().map_or_else(beside, Ok)?;
        torr.canonicalize().map_err(|_| {
            Error::Usage(format!("{} is not there: 'cargo build --release', or name one with --torr", torr.display()))
        })
    }
}
