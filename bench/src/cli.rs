//! The command line: commands, options and the one-line error of a bad one.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::error::ErrorKind;
use clap::{Args, Parser, Subcommand};

use crate::data::scenario::{Group, Operation};
use crate::scenario::Style;
use torr_test_support::error::Error;

#[derive(Parser)]
#[command(name = "torr-bench", about = "What Torr costs per request, against the kernel's floor and its peers")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

/// What is to be done.
#[derive(Subcommand)]
pub enum Command {
    /// Measure all of the below, and archive the run
    All(Options),
    /// Measure the load generators only
    Press(Options),
    /// Measure the servers only
    Serve(Options),
    /// Measure the load generators with TLS, HTTP/2, pipelining and an open loop only
    Transport(Options),
    /// Measure what each way to a database costs through HTTP
    Data(DataOptions),
    /// Sample where each way to a database spends its time, and plot it
    Where(WhereOptions),
    /// Reload a server under full load, over and over, and count the requests that fail
    Reload(ReloadOptions),
    /// Measure what sessions and scripts cost beside a bare GET, and beside wrk
    Sessions(SessionOptions),
    /// Measure the memory that virtual users take
    Users(UserOptions),
    /// Measure what a handler that computes does to other requests, beside `axum::serve`
    Computing(ComputingOptions),
    /// Measure how a fleet keeps its rate, begins together, and what a thousand agents cost its coordinator
    Fleet(FleetOptions),
    /// Load servers for hours while they are reloaded and disturbed, and look whether memory or descriptors grow
    Soak(SoakOptions),
    /// The floor of HTTP service: responds to every blank line with a fixed page
    #[command(hide = true)]
    FloorServer(FloorServer),
    /// The floor of HTTP load: a closed loop that reads and sends
    #[command(hide = true)]
    FloorClient(FloorClient),
    /// Become another program, pinned to one CPU and ending with the driver
    #[command(hide = true)]
    Launch(Launch),
}

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
    /// The torr program to measure, instead of building this tree's
    #[arg(long, value_name = "PATH")]
    pub torr: Option<PathBuf>,
    /// Print the tables only
    #[arg(long)]
    pub no_archive: bool,
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

/// How the ways to a database are measured.
#[derive(Args)]
pub struct DataOptions {
    /// How many turns, and how long.
    #[command(flatten)]
    pub size: Size,
    /// Connections of the load, kept alive
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..))]
    pub connections: u32,
    /// Only these databases and groups
    #[arg(long, value_delimiter = ',')]
    pub styles: Vec<Group>,
    /// Only these operations
    #[arg(long, value_delimiter = ',')]
    pub operations: Vec<Operation>,
    /// Only these candidates, of torr, sqlx (with SeaORM), gin and php
    #[arg(long, value_delimiter = ',')]
    pub only: Vec<String>,
    /// The torr program to measure, instead of building this tree's
    #[arg(long, value_name = "PATH")]
    pub torr: Option<PathBuf>,
    /// Print the tables only
    #[arg(long)]
    pub no_archive: bool,
}

/// How the ways to a database are sampled.
#[derive(Args)]
pub struct WhereOptions {
    /// How long each way is sampled, in turns of one second
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    pub seconds: u32,
    /// Connections of the load, kept alive
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..))]
    pub connections: u32,
    /// Where the plot goes [default: bench/orm-cost.svg of this tree]
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
    /// The torr program to measure, instead of building this tree's
    #[arg(long, value_name = "PATH")]
    pub torr: Option<PathBuf>,
    /// Print the tables and draw the plot only
    #[arg(long)]
    pub no_archive: bool,
}

/// How a server is reloaded under load.
#[derive(Args)]
pub struct ReloadOptions {
    /// Fewer requests: shows that all works
    #[arg(long)]
    pub quick: bool,
    /// Requests of each load [default: 1000000, quick: 50000]
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
    requests: Option<u64>,
    /// Connections open at a time
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..))]
    pub connections: u32,
    /// Seconds from one reload to the next [default: 1, quick: 0.2]
    #[arg(long)]
    every: Option<f64>,
    /// The torr program to measure, instead of building this tree's
    #[arg(long, value_name = "PATH")]
    pub torr: Option<PathBuf>,
    /// Print the table only
    #[arg(long)]
    pub no_archive: bool,
}

impl ReloadOptions {
    /// Requests of each load.
    pub fn requests(&self) -> u64 {
        self.requests.unwrap_or(if self.quick { 50_000 } else { 1_000_000 })
    }

    /// Time from one reload to the next.
    pub fn every(&self) -> Result<Duration, Error> {
        let seconds = self.every.unwrap_or(if self.quick { 0.2 } else { 1.0 });
        let time = Duration::try_from_secs_f64(seconds).ok().filter(|time| !time.is_zero());
        time.ok_or_else(|| Error::Usage(format!("--every {seconds} is not a number of seconds above 0")))
    }
}

/// How sessions and scripts are measured.
#[derive(Args)]
pub struct SessionOptions {
    /// How many turns, and how long.
    #[command(flatten)]
    pub size: Size,
    /// Connections open at a time, one for each user
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..))]
    pub connections: u32,
    /// The torr program to measure, instead of building this tree's
    #[arg(long, value_name = "PATH")]
    pub torr: Option<PathBuf>,
    /// Print the table only
    #[arg(long)]
    pub no_archive: bool,
}

/// How the memory of virtual users is measured.
#[derive(Args)]
pub struct UserOptions {
    /// Numbers of users, each with a connection of its own
    #[arg(long, value_delimiter = ',', default_value = "1000,10000,100000", value_parser = clap::value_parser!(u32).range(1..))]
    pub users: Vec<u32>,
    /// Length of each run in seconds: every user has to send a request in it
    #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..))]
    pub seconds: u32,
    /// The torr program to measure, instead of building this tree's
    #[arg(long, value_name = "PATH")]
    pub torr: Option<PathBuf>,
    /// Print the table only
    #[arg(long)]
    pub no_archive: bool,
}

/// How handlers that compute are measured.
#[derive(Args)]
pub struct ComputingOptions {
    /// How many turns, and how long.
    #[command(flatten)]
    pub size: Size,
    /// The torr program that makes the load, instead of building this tree's
    #[arg(long, value_name = "PATH")]
    pub torr: Option<PathBuf>,
    /// Print the table only
    #[arg(long)]
    pub no_archive: bool,
}

/// How fleets are measured.
#[derive(Args)]
pub struct FleetOptions {
    /// A short run at a rate: shows that all works
    #[arg(long)]
    pub quick: bool,
    /// Agents, each a process, that begin together
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..))]
    pub agents: u32,
    /// Simulated agents
    #[arg(long, default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..))]
    pub simulated: u32,
    /// The program that simulates agents, instead of building this tree's
    #[arg(long, value_name = "PATH")]
    pub simulator: Option<PathBuf>,
    /// The torr program to measure, instead of building this tree's
    #[arg(long, value_name = "PATH")]
    pub torr: Option<PathBuf>,
    /// Print the table only
    #[arg(long)]
    pub no_archive: bool,
}

/// How long and how hard servers and load generators are soaked.
#[derive(Args)]
pub struct SoakOptions {
    /// How long the load lasts, such as 3m
    #[arg(long = "for", value_name = "TIME", default_value = "2h", value_parser = humantime::parse_duration)]
    pub length: Duration,
    /// The load, in percent of what a short closed loop reached
    #[arg(long, default_value_t = 70, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub share: u32,
    /// The torr program of both sides, instead of building this tree's
    #[arg(long, value_name = "PATH")]
    pub torr: Option<PathBuf>,
    /// Print the tables only
    #[arg(long)]
    pub no_archive: bool,
}

/// Arguments of the floor's server.
#[derive(Args)]
pub struct FloorServer {
    /// An address such as 127.0.0.1:9000, or a port on the loopback
    pub listen: String,
    /// `close` after each response; `http10` announces keep-alive, which ab needs
    #[arg(value_parser = ["close", "http10"])]
    pub mode: Option<String>,
}

/// Arguments of the floor's client.
#[derive(Args)]
pub struct FloorClient {
    /// Port on the loopback
    pub port: u16,
    /// Connections, each with one request in flight
    pub connections: u32,
    /// Length of the run in seconds
    pub seconds: f64,
    /// One connection per request
    #[arg(value_parser = ["close"])]
    pub mode: Option<String>,
    /// Path to ask for
    #[arg(long, default_value = "/")]
    pub path: String,
}

/// Arguments of the launcher.
#[derive(Args)]
pub struct Launch {
    /// CPU to run on
    pub cpu: usize,
    /// Process id of the driver
    pub parent: i32,
    /// Program and arguments
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    pub command: Vec<OsString>,
}

/// Reads the command line. Help goes to stdout and ends the process; an error is one line.
pub fn parse() -> Result<Command, Error> {
    Cli::try_parse().map(|cli| cli.command).map_err(|e| match e.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => e.exit(),
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand | ErrorKind::MissingSubcommand => Error::Usage(
            "say what to measure: all, press, serve, transport, data, where, reload, sessions, users, computing, fleet or soak (see \
             --help)"
                .into(),
        ),
        _ => Error::Usage(format!("{} (see --help)", one_line(&e.to_string()))),
    })
}

/// What clap has to say, without its usage lines, on one line.
fn one_line(text: &str) -> String {
    let what = text.split("\n\n").next().unwrap_or_default();
    what.trim_start_matches("error: ").split_whitespace().collect::<Vec<_>>().join(" ")
}
