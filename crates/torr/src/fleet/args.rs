//! The command lines of `torr fleet`.

use crate::exit::CliError;
use crate::flags::values::{duration, per_second, positive};
use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;
use std::time::Duration;
use torr_fleet::allow::Rule;
use torr_fleet::message::IfLost;
use torr_fleet::{FleetError, FleetName, Nats};

/// The variable that has the URL, for those with a password in it.
const VARIABLE: &str = "TORR_NATS";

const EXAMPLES: &str = "\
Examples:
  torr fleet agent --nats nats://hub:4222 --creds agent.creds --allow shop.test:443
  torr fleet run --nats nats://hub:4222 --creds me.creds --agents 3 -- https://shop.test/ -r 30000 -d 1m
  torr fleet list --nats nats://hub:4222 --creds me.creds

Exit codes of 'torr fleet run': those of 'torr'; 1 also where agents were lost, or NATS or the fleet is not there";

/// `torr fleet`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct FleetArgs {
    #[command(subcommand)]
    pub command: FleetCommand,
}

/// A command of a fleet.
#[derive(Debug, Subcommand)]
pub enum FleetCommand {
    /// Wait for plans, and carry out this machine's share of each
    Agent(AgentArgs),
    /// Load a URL from the machines of a fleet; the report, outputs and exit codes are those of 'torr URL'
    Run(RunArgs),
    /// Show the agents of a fleet
    List(ListArgs),
    /// End a run, or all runs of a fleet
    Stop(StopArgs),
}

/// The connection to NATS, and the fleet.
#[derive(Debug, Args)]
pub struct NatsArgs {
    /// Where NATS is, or several with commas; TORR_NATS in the environment does the same, and does not show in the list of
    /// processes [default: nats://127.0.0.1:4222]
    #[arg(long, value_name = "URL")]
    pub nats: Option<String>,
    /// The file of a NATS user's credentials (JWT and key)
    #[arg(long, value_name = "FILE", conflicts_with = "nkey")]
    pub creds: Option<PathBuf>,
    /// The file of an nkey's seed
    #[arg(long, value_name = "FILE")]
    pub nkey: Option<PathBuf>,
    /// Trust the certificates in this PEM file for tls:// instead of the system's
    #[arg(long, value_name = "FILE")]
    pub nats_ca: Option<PathBuf>,
    /// The name of the fleet: agents and runs of other fleets are not seen
    #[arg(long, value_name = "NAME", default_value = "default", value_parser = name)]
    pub fleet: FleetName,
}

/// `torr fleet agent`.
#[derive(Debug, Args)]
pub struct AgentArgs {
    #[command(flatten)]
    pub nats: NatsArgs,
    /// A target that may be loaded, HOST, HOST:PORT or a network such as 10.0.0.0/8; may be repeated [default: this machine's
    /// loopback network]
    #[arg(long, value_name = "TARGET", value_delimiter = ',', value_parser = Rule::parse)]
    pub allow: Vec<Rule>,
    /// The agent's name [default: that of the host, and a random part]
    #[arg(long, value_name = "NAME", value_parser = name)]
    pub name: Option<FleetName>,
    /// The requests per second that this machine can make, by which shares are made [default: measured against a server of
    /// its own]
    #[arg(long, value_name = "RATE", value_parser = per_second)]
    pub ceiling: Option<f64>,
    /// The longest plan that is carried out, its warm-up included
    #[arg(long, value_name = "DURATION", value_parser = duration, default_value = "1day")]
    pub longest: Duration,
}

/// `torr fleet run`.
#[derive(Debug, Args)]
pub struct RunArgs {
    #[command(flatten)]
    pub nats: NatsArgs,
    /// The number of agents [default: all that respond]
    #[arg(long, value_name = "N", value_parser = positive)]
    pub agents: Option<usize>,
    /// How long agents are waited for [default: 30s with --agents, otherwise 2s]
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub wait: Option<Duration>,
    /// What agents do if they hear of this program no more: end at once, or with the plan
    #[arg(long, value_enum, value_name = "WHAT", default_value_t = IfLostArg::Stop)]
    pub if_lost: IfLostArg,
    /// A URL and flags as after 'torr', or a plan
    #[arg(last = true, required = true, num_args = 1.., value_name = "URL AND FLAGS")]
    pub words: Vec<String>,
}

/// `torr fleet list`.
#[derive(Debug, Args)]
pub struct ListArgs {
    #[command(flatten)]
    pub nats: NatsArgs,
    /// How long agents are waited for
    #[arg(long, value_name = "DURATION", value_parser = duration, default_value = "1s")]
    pub wait: Duration,
}

/// `torr fleet stop`.
#[derive(Debug, Args)]
pub struct StopArgs {
    #[command(flatten)]
    pub nats: NatsArgs,
    /// The run, as 'torr fleet run' and 'torr fleet list' name it [default: all runs of the fleet]
    #[arg(value_name = "RUN")]
    pub run: Option<String>,
}

/// [`IfLost`] on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum IfLostArg {
    Stop,
    Finish,
}

impl From<IfLostArg> for IfLost {
    fn from(what: IfLostArg) -> Self {
        match what {
            IfLostArg::Stop => Self::Stop,
            IfLostArg::Finish => Self::Finish,
        }
    }
}

impl NatsArgs {
    /// Returns the connection.
    pub fn connection(&self) -> Nats {
        let url = self.nats.clone().or_else(|| std::env::var(VARIABLE).ok()).filter(|url| !url.is_empty());
        Nats {
            urls: url.unwrap_or_else(|| "nats://127.0.0.1:4222".into()),
            creds: self.creds.clone(),
            nkey: self.nkey.clone(),
            ca: self.nats_ca.clone(),
        }
    }
}

fn name(text: &str) -> Result<FleetName, String> {
    FleetName::parse(text).map_err(|error| error.to_string())
}

/// Returns the error of a fleet as one of the program.
pub fn failed(error: FleetError) -> CliError {
    match error {
        FleetError::Usage(line) => CliError::Usage(line),
        FleetError::Unreachable(line) => CliError::Unreachable(line),
        FleetError::Nats { .. } | FleetError::Agents(_) | FleetError::NoResult(_) => {
            CliError::Failed(error.to_string())
        }
    }
}
