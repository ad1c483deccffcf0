//! The command lines of `torr fleet`.

use super::lines;
use crate::exit::CliError;
use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;
use std::time::Duration;
use torr_doctor::{Invocation, quoted};
use torr_fleet::allow::Rule;
use torr_fleet::message::IfLost;
use torr_fleet::{FleetError, FleetName, Nats};
use torr_load::values::{agents, duration, per_second};

/// The variable that has the URL, for those with a password in it.
const VARIABLE: &str = "TORR_NATS";
/// The name of a fleet without one.
const DEFAULT_FLEET: &str = "default";

const EXAMPLES: &str = "\
Examples:
  torr fleet agent --nats nats://hub:4222 --creds agent.creds --allow shop.test:443
  torr fleet run --nats nats://hub:4222 --creds me.creds --agents 3 -- https://shop.test/ -r 30000 -d 1m
  torr fleet run --nats nats://hub:4222 --creds me.creds -- checkout.hurl --feeder users.csv -c 600 -d 5m
  torr fleet list --nats nats://hub:4222 --creds me.creds";

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
    /// Wait for plans, and run this machine's share of each
    Agent(AgentArgs),
    /// Load a service from the machines of a fleet, with the report and outputs of 'torr'
    Run(RunArgs),
    /// List the agents of a fleet
    List(ListArgs),
    /// Stop a run, or all runs of a fleet
    Stop(StopArgs),
}

/// The connection to NATS, and the fleet.
#[derive(Debug, Args)]
pub struct NatsArgs {
    #[command(flatten)]
    pub server: NatsServer,
    /// Use the fleet of this name, which does not see agents and runs of other fleets
    #[arg(long, value_name = "NAME", default_value = "default", value_parser = name)]
    pub fleet: FleetName,
}

/// A load from the machines of a fleet instead of this one.
#[derive(Debug, Args)]
#[command(next_help_heading = "Fleet")]
pub struct ThroughFleet {
    /// Load from the agents of this fleet instead of this machine; see 'torr help fleet' [default NAME: default]
    #[arg(long, value_name = "NAME", num_args = 0..=1, require_equals = true, default_missing_value = "default",
          value_parser = name)]
    pub fleet: Option<FleetName>,
    /// Use this many agents [default: all that respond]
    #[arg(long, value_name = "N", value_parser = agents, requires = "fleet")]
    pub agents: Option<usize>,
    #[command(flatten)]
    pub nats: NatsServer,
}

/// A fleet, and how many of its agents.
pub struct FleetOf<'a> {
    pub name: FleetName,
    pub agents: Option<usize>,
    pub nats: &'a NatsServer,
}

impl ThroughFleet {
    /// Returns the fleet, if there is one.
    ///
    /// # Errors
    /// For a server of NATS without a fleet.
    pub fn fleet(&self) -> Result<Option<FleetOf<'_>>, CliError> {
        let NatsServer { nats, creds, nkey, nats_ca } = &self.nats;
        let is_named = nats.is_some() || creds.is_some() || nkey.is_some() || nats_ca.is_some();
        match &self.fleet {
            None if is_named => Err(CliError::Usage("--nats needs --fleet".into())),
            None => Ok(None),
            Some(name) => Ok(Some(FleetOf { name: name.clone(), agents: self.agents, nats: &self.nats })),
        }
    }

    /// Lets commands that are printed load from so many agents of the fleet again, if there is one.
    pub fn press_again(&self, agents: usize, again: &mut Invocation) {
        let Some(name) = &self.fleet else { return };
        let mut words = vec!["torr fleet run".to_owned()];
        if name.as_str() != DEFAULT_FLEET {
            words.push(format!("--fleet {name}"));
        }
        words.extend(self.nats.again(again).into_iter().map(|(flag, path)| format!("{flag} {path}")));
        words.push(format!("--agents {agents} --"));
        again.through = Some(words.join(" "));
    }

    /// Lets a printed `torr doctor` load from so many agents of the fleet again, if there is one.
    pub fn doctor_again(&self, agents: usize, again: &mut Invocation) {
        let Some(name) = &self.fleet else { return };
        let is_default = name.as_str() == DEFAULT_FLEET;
        let fleet = if is_default { "--fleet".to_owned() } else { format!("--fleet={name}") };
        again.doctor.push((fleet, None));
        again.doctor.push(("--agents".into(), Some(agents.to_string())));
        let nats = self.nats.again(again);
        again.doctor.extend(nats.into_iter().map(|(flag, path)| (flag.to_owned(), Some(path))));
    }
}

/// The connection to NATS.
#[derive(Debug, Args)]
pub struct NatsServer {
    /// Connect to NATS at this URL, or at the first of several, separated by commas; set TORR_NATS instead to keep a
    /// password out of the process list [default: nats://127.0.0.1:4222]
    #[arg(long, value_name = "URL")]
    pub nats: Option<String>,
    /// Authenticate with the NATS credentials in this file (JWT and key)
    #[arg(long, value_name = "FILE", conflicts_with = "nkey")]
    pub creds: Option<PathBuf>,
    /// Authenticate with the nkey seed in this file
    #[arg(long, value_name = "FILE")]
    pub nkey: Option<PathBuf>,
    /// Trust the certificates in this PEM file for tls:// instead of the system's
    #[arg(long, value_name = "FILE")]
    pub nats_ca: Option<PathBuf>,
}

/// `torr fleet agent`.
#[derive(Debug, Args)]
pub struct AgentArgs {
    #[command(flatten)]
    pub nats: NatsArgs,
    /// Allow this target: HOST, HOST:PORT or a network such as 10.0.0.0/8; can be repeated [default: this machine's
    /// loopback network]
    #[arg(long, value_name = "TARGET", value_delimiter = ',', value_parser = Rule::parse)]
    pub allow: Vec<Rule>,
    /// Give the agent this name [default: the host's name with a random part]
    #[arg(long, value_name = "NAME", value_parser = name)]
    pub name: Option<FleetName>,
    /// Take a share of the load that fits this maximum request rate, per second [default: measured with a server of its
    /// own]
    #[arg(long, value_name = "RATE", value_parser = ceiling)]
    pub ceiling: Option<f64>,
    /// Run Lua scripts too; a script can do whatever this program's user can do on this machine
    #[arg(long)]
    pub scripts: bool,
    /// Refuse plans that take longer than this, warm-up included
    #[arg(long, value_name = "DURATION", value_parser = duration, default_value = "1day")]
    pub longest: Duration,
    /// Accept plans from a NATS server without authentication, so that anyone who reaches it can use this agent
    #[arg(long)]
    pub i_trust_this_nats: bool,
}

/// `torr fleet run`.
#[derive(Debug, Args)]
pub struct RunArgs {
    #[command(flatten)]
    pub nats: NatsArgs,
    /// Use this many agents [default: all that respond]
    #[arg(long, value_name = "N", value_parser = agents)]
    pub agents: Option<usize>,
    /// Wait this long for agents [default: 30s with --agents, otherwise 2s]
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub wait: Option<Duration>,
    /// Stop agents that lose contact with this program at once, or let them finish the plan
    #[arg(long, value_enum, value_name = "WHAT", default_value_t = IfLostArg::Stop)]
    pub if_lost: IfLostArg,
    /// A URL, hurl files, a script or a plan, with flags, as after 'torr'
    #[arg(last = true, required = true, num_args = 1.., value_name = "TARGET AND FLAGS")]
    pub words: Vec<String>,
}

/// `torr fleet list`.
#[derive(Debug, Args)]
pub struct ListArgs {
    #[command(flatten)]
    pub nats: NatsArgs,
    /// Wait this long for agents
    #[arg(long, value_name = "DURATION", value_parser = duration, default_value = "1s")]
    pub wait: Duration,
}

/// `torr fleet stop`.
#[derive(Debug, Args)]
pub struct StopArgs {
    #[command(flatten)]
    pub nats: NatsArgs,
    /// Stop this run, named as 'torr fleet run' and 'torr fleet list' show it [default: all runs of the fleet]
    #[arg(value_name = "RUN", value_parser = name)]
    pub run: Option<FleetName>,
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
    /// Returns the command of an agent of the fleet, without what is secret.
    pub fn agent(&self) -> String {
        let mut command = "torr fleet agent".to_owned();
        if self.fleet.as_str() != DEFAULT_FLEET {
            command += &format!(" --fleet {}", self.fleet);
        }
        let server = self.server.connection();
        let file = |path: &Option<PathBuf>| path.as_ref().map(|path| quoted(&path.to_string_lossy()));
        if self.server.nats.is_some() && !server.has_credentials_in_url() {
            command += &format!(" --nats {}", quoted(&server.urls));
        }
        for (flag, path) in [("--creds", &server.creds), ("--nkey", &server.nkey), ("--nats-ca", &server.ca)] {
            command.extend(file(path).map(|path| format!(" {flag} {path}")));
        }
        command
    }
}

impl NatsServer {
    /// Returns the flags that a printed command repeats, with values as words of a shell. The URL may hold a password,
    /// and is read from the environment then.
    fn again(&self, again: &mut Invocation) -> Vec<(&'static str, String)> {
        if let Some(url) = &self.nats {
            again.variables.get_mut().variable(VARIABLE, "--nats", url);
        }
        let files = [("--creds", &self.creds), ("--nkey", &self.nkey), ("--nats-ca", &self.nats_ca)];
        let given = files.into_iter().filter_map(|(flag, path)| Some((flag, path.as_ref()?)));
        given.map(|(flag, path)| (flag, quoted(&path.to_string_lossy()))).collect()
    }

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

/// A rate of which a share can be taken.
fn ceiling(text: &str) -> Result<f64, String> {
    let (least, most) = torr_fleet::CEILINGS;
    let in_bounds = |rate: &f64| (least..=most).contains(rate);
    per_second(text).ok().filter(in_bounds).ok_or_else(|| format!("must be {least} to {most} requests per second"))
}

fn name(text: &str) -> Result<FleetName, String> {
    FleetName::parse(text).map_err(|error| error.to_string())
}

/// Returns the error of a fleet as one of the program.
pub fn failed(error: FleetError) -> CliError {
    match error {
        FleetError::Usage(line) => CliError::Usage(line),
        FleetError::Unreachable(line) => CliError::Unreachable(line),
        error => CliError::Failed(lines::line(&error)),
    }
}
