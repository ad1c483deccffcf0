//! How hard to press: connections, pace, length.

use super::values::{duration, positive, rate, requests, stages};
use clap::{ArgGroup, Args, ValueEnum};
use std::time::Duration;
use torr_press::{Arrivals, Schedule};

/// How hard, how fast, how long.
#[derive(Debug, Args)]
#[command(next_help_heading = "Load", group(ArgGroup::new("open").args(["rate", "stages"])))]
pub struct LoadArgs {
    /// Connections at a time
    #[arg(short, long, default_value = "100", value_parser = positive)]
    pub connections: usize,
    /// Threads [default: one per CPU]
    #[arg(short, long, value_parser = positive)]
    pub threads: Option<usize>,
    /// How long, such as 30s or 2m; a bare number is seconds [default: 10s, unless -n is given]
    #[arg(short, long, value_parser = duration)]
    pub duration: Option<Duration>,
    /// How many requests, such as 5000 or 2M; with -d, whichever is reached first
    #[arg(short = 'n', long, value_parser = requests)]
    pub requests: Option<u64>,
    /// An open loop: requests per second that are due whatever the service does; -c is the most connections
    #[arg(short, long, value_name = "RATE", value_parser = rate, conflicts_with = "stages")]
    pub rate: Option<Schedule>,
    /// An open loop whose rate goes in straight lines, such as '10s:100,30s:1000,5s:0'
    #[arg(long, value_name = "STAGES", value_parser = stages)]
    pub stages: Option<Schedule>,
    /// How requests of an open loop are spread: evenly, or at random as many independent users would
    #[arg(long, value_enum, default_value_t = ArrivalsArg::Constant, requires = "open")]
    pub arrivals: ArrivalsArg,
    /// After how long without a whole answer a request has failed
    #[arg(long, default_value = "10s", value_parser = duration, value_name = "DURATION")]
    pub timeout: Duration,
    /// Open a connection for each request
    #[arg(long)]
    pub no_keepalive: bool,
}

impl LoadArgs {
    /// The open loop that is asked for.
    pub fn schedule(&self) -> Option<(Schedule, Arrivals)> {
        let arrivals = match self.arrivals {
            ArrivalsArg::Constant => Arrivals::Constant,
            ArrivalsArg::Poisson => Arrivals::Poisson,
        };
        let schedule = self.rate.as_ref().or(self.stages.as_ref())?;
        Some((schedule.clone(), arrivals))
    }
}

/// [`Arrivals`] on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ArrivalsArg {
    Constant,
    Poisson,
}
