//! The options of the comparisons of load generators and of servers.

use std::path::PathBuf;

use clap::Args;

use crate::scenario::Style;

/// How many turns there are, and how long they are.
#[derive(Args)]
pub struct Size {
    /// Short turns and few rounds: shows that all works, not what it costs
    #[arg(long)]
    pub quick: bool,
    /// Rounds; in each, every candidate takes one turn [default: 7, quick: 2]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: Option<u32>,
    /// Length of one turn in seconds [default: 2, quick: 1]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    seconds: Option<u32>,
}

impl Size {
    /// Number of rounds.
    pub fn rounds(&self) -> u32 {
        self.rounds.unwrap_or(if self.quick { 2 } else { 7 })
    }

    /// Length of one turn in seconds; whole, since that is all that some tools accept.
    pub fn seconds(&self) -> u32 {
        self.seconds.unwrap_or(if self.quick { 1 } else { 2 })
    }
}

/// What every benchmark measures, and whether its run is kept.
#[derive(Args)]
pub struct RunOptions {
    /// The torr program to run, instead of building this tree's
    #[arg(long, value_name = "PATH")]
    pub torr: Option<PathBuf>,
    /// Print what was measured, without archiving it
    #[arg(long)]
    pub no_archive: bool,
}

/// How a benchmark is run.
#[derive(Args)]
pub struct Options {
    /// How many turns, and how long.
    #[command(flatten)]
    pub size: Size,
    /// Connections of the keep-alive scenarios
    #[arg(long, value_delimiter = ',', default_value = "100,1000,8000", value_parser = clap::value_parser!(u32).range(1..))]
    pub connections: Vec<u32>,
    /// Only these scenarios, whatever the side
    #[arg(long, value_delimiter = ',')]
    pub styles: Vec<Style>,
    /// Only these candidates, such as torr,wrk; the floor always takes part
    #[arg(long, value_delimiter = ',')]
    pub only: Vec<String>,
    /// What is measured, and whether it is kept.
    #[command(flatten)]
    pub run: RunOptions,
}
