//! The flags of the load: connections, pace, length.

use super::values::{
    Stages, connections, depth, duration, per_second, rate, requests, run_duration, stages, think, threads, window,
};
use clap::{ArgGroup, Args, ValueEnum};
use std::time::Duration;
use torr_press::{Arrivals, Pace, Schedule, ThinkTime, Timestamps};

/// The flags of the load.
#[derive(Debug, Args)]
#[command(next_help_heading = "Load", group(ArgGroup::new("open").args(["rate", "stages"])))]
pub struct LoadArgs {
    /// Connections at a time, or virtual users [default: 100]
    #[arg(short, long, value_parser = connections, value_name = "N")]
    pub connections: Option<usize>,
    /// Most connections of an open loop, opened as they are needed [default: as -c]
    #[arg(long, value_parser = connections, value_name = "N", requires = "open", conflicts_with = "connections")]
    pub max_connections: Option<usize>,
    /// Threads [default: one per CPU]
    #[arg(short, long, value_parser = threads)]
    pub threads: Option<usize>,
    /// How long, such as 30s or 2m; a bare number is seconds [default: 10s, unless -n is given]
    #[arg(short, long, value_parser = run_duration)]
    pub duration: Option<Duration>,
    /// How many requests, such as 5000 or 2M; with -d, whichever is reached first
    #[arg(short = 'n', long, value_parser = requests)]
    pub requests: Option<u64>,
    /// An open loop: requests per second that are due whatever the service does; -c is the most connections
    #[arg(short, long, value_name = "RATE", value_parser = rate, conflicts_with = "stages")]
    pub rate: Option<Schedule>,
    /// An open loop whose rate goes in straight lines, such as '10s:100,30s:1000,5s:0'; with a 'c' after each number, a
    /// closed loop whose connections do
    #[arg(long, value_name = "STAGES", value_parser = stages)]
    pub stages: Option<Stages>,
    /// The most requests per second of a closed loop
    #[arg(long, value_name = "RATE", value_parser = per_second, conflicts_with = "rate")]
    pub max_rate: Option<f64>,
    /// How requests of an open loop are spread: evenly, or at random as many independent users would
    #[arg(long, value_enum, default_value_t = ArrivalsArg::Constant, requires = "open")]
    pub arrivals: ArrivalsArg,
    /// Requests of an open loop that are due within so short a time of each other leave together, which saves CPU; 0 is
    /// each at its own time [default: 150us; at random never]
    #[arg(long, value_name = "DURATION", value_parser = window, requires = "open")]
    pub coalesce: Option<Duration>,
    /// The clock of arriving responses: the kernel's receive time, or the time at which Torr reads them; auto is the kernel in open
    /// loops over TCP
    #[arg(long, value_enum, default_value_t = TimestampsArg::Auto, value_name = "CLOCK")]
    pub timestamps: TimestampsArg,
    /// Acknowledge at once what arrives (TCP_QUICKACK): a server that waits for acknowledgements between its writes is
    /// faster then
    #[arg(long)]
    pub quick_ack: bool,
    /// After how long without a whole response a request has failed
    #[arg(long, default_value = "10s", value_parser = duration, value_name = "DURATION")]
    pub timeout: Duration,
    /// Press so long before anything counts
    #[arg(long, value_parser = duration, value_name = "DURATION")]
    pub warmup: Option<Duration>,
    /// Wait so long between a response and the next request of a closed loop or a session; a range, such as 50ms..150ms,
    /// is drawn from evenly
    #[arg(long, value_parser = think, value_name = "DURATION")]
    pub think: Option<ThinkTime>,
    /// Requests in flight on each connection (HTTP/1.1 pipelining)
    #[arg(long, value_parser = depth, value_name = "N", conflicts_with_all = ["no_keepalive", "h2"])]
    pub pipeline: Option<u16>,
    /// Close each connection after so many requests
    #[arg(long, value_parser = requests, value_name = "N", conflicts_with = "no_keepalive")]
    pub requests_per_connection: Option<u64>,
    /// Open a connection for each request
    #[arg(long, conflicts_with = "streams")]
    pub no_keepalive: bool,
}

impl LoadArgs {
    /// Returns the pace of requests.
    pub fn pace(&self) -> Pace {
        let arrivals = self.arrivals.into();
        match (&self.rate, &self.stages) {
            (Some(rate), _) | (None, Some(Stages::Rates(rate))) => Pace::Open(rate.clone(), arrivals),
            (None, Some(Stages::Connections(connections))) => {
                Pace::Closed { connections: Some(connections.clone()), max_rate: self.max_rate }
            }
            (None, None) => Pace::closed(self.max_rate),
        }
    }

    /// Returns the number of connections.
    pub fn connections(&self) -> usize {
        match &self.stages {
            Some(Stages::Connections(connections)) => connections.peak().ceil() as usize,
            _ => self.max_connections.or(self.connections).unwrap_or(100),
        }
    }
}

/// [`Timestamps`] on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TimestampsArg {
    Auto,
    Kernel,
    User,
}

impl From<TimestampsArg> for Timestamps {
    fn from(timestamps: TimestampsArg) -> Self {
        match timestamps {
            TimestampsArg::Auto => Self::Auto,
            TimestampsArg::Kernel => Self::Kernel,
            TimestampsArg::User => Self::User,
        }
    }
}

/// [`Arrivals`] on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ArrivalsArg {
    Constant,
    Poisson,
}

impl From<ArrivalsArg> for Arrivals {
    fn from(arrivals: ArrivalsArg) -> Self {
        match arrivals {
            ArrivalsArg::Constant => Self::Constant,
            ArrivalsArg::Poisson => Self::Poisson,
        }
    }
}
