//! `torr doctor` on the command line.

use super::compare::args::CompareArgs;
use crate::fleet::ThroughFleet;
use crate::steps::ViewArgs;
use clap::Args;
use std::path::PathBuf;
use std::time::Duration;
use torr_load::values::{connections, duration, per_second, threads};
use torr_load::{Exchanged, Load};

const EXAMPLES: &str = "\
Examples:
  torr doctor http://127.0.0.1:8080/            find what limits it
  torr doctor URL -c 500 --budget 2m            use more connections and time
  torr doctor URL --sse                         examine streams of events
  torr doctor URL --watch server:9300           observe the server's machine
  torr doctor URL --dashboard                   follow it in a browser
  torr doctor URL --via http://127.0.0.1:8081/  measure the cost of a proxy";

/// `torr doctor`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct DoctorArgs {
    /// A URL, with or without 'http://'; or a.hurl, script.lua, script.js or plan.toml, whose pace and duration are ignored
    #[arg(required_unless_present_any = ["sweep", "command", "tls"])]
    pub url: Option<String>,
    /// Diagnose the service at this many connections; of streams, with one on each
    #[arg(short, long, default_value_t = 100, value_parser = connections, value_name = "N")]
    pub connections: usize,
    /// Use this many threads [default: one per CPU]
    #[arg(short, long, value_parser = threads)]
    pub threads: Option<usize>,
    /// Finish all experiments within this time
    #[arg(long, default_value = "60s", value_parser = duration, value_name = "DURATION")]
    pub budget: Duration,
    /// Limit the request rate, per second; of streams, the rate at which they begin
    #[arg(long, value_parser = per_second, value_name = "RATE")]
    pub max_rate: Option<f64>,
    /// Limit the number of connections [default: twice -c]
    #[arg(long, value_parser = connections, value_name = "N")]
    pub max_connections: Option<usize>,
    /// Open a connection for each request, as the service's clients do
    #[arg(long)]
    pub no_keepalive: bool,
    /// Allow a target outside this machine and private networks: you confirm that you may load it
    #[arg(long)]
    pub i_own_this: bool,
    /// Address of 'torr watch' on the server's machine, HOST:PORT; or of a node_exporter there, which shows less
    #[arg(long, value_name = "ADDRESS")]
    pub watch: Option<String>,
    /// Send this token to 'torr watch'; or set the environment variable TORR_WATCH_TOKEN
    #[arg(long, value_name = "TOKEN", requires = "watch")]
    pub watch_token: Option<String>,
    /// Do not look for the function, the lock or the statement that the verdict comes from
    #[arg(long, conflicts_with = "ask")]
    pub no_where: bool,
    /// Permit Torr to ask the server's processes for their stacks: a JVM for thread dumps, node for a CPU profile
    #[arg(long)]
    pub ask: bool,
    /// Read statements, plans and locks from the service's database by this login, such as postgres://USER:PASSWORD@HOST/NAME;
    /// set TORR_DATABASE_URL instead to keep it out of the process list
    #[arg(long, value_name = "URL")]
    pub database_url: Option<String>,
    /// Take logins of databases from the environment of the server's processes, such as their DATABASE_URL
    #[arg(long)]
    pub database_from_env: bool,
    /// Write the diagnosis with all experiments as JSON; '-' writes it to standard output, and nothing else
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Write a report as one HTML page: verdict, evidence and all experiments
    #[arg(long, value_name = "FILE", conflicts_with_all = ["sweep", "via", "tls", "paths"])]
    pub report: Option<PathBuf>,
    /// Do not show progress on standard error
    #[arg(short, long)]
    pub quiet: bool,
    #[command(flatten)]
    pub views: ViewArgs,
    #[command(flatten)]
    pub compare: CompareArgs,
    #[command(flatten)]
    pub load: Exchanged,
    #[command(flatten)]
    pub through: ThroughFleet,
}

impl DoctorArgs {
    /// The default time limit of all experiments together.
    pub const BUDGET: Duration = Duration::from_secs(60);

    /// Takes the load of a plan instead of that of the command line.
    pub fn take(&mut self, load: Load) {
        let pace = &load.pace;
        self.url = load.targets.first().cloned();
        self.connections = pace.connections.as_deref().copied().unwrap_or(self.connections);
        self.threads = pace.threads.as_deref().copied().or(self.threads);
        self.max_rate = pace.max_rate.as_deref().copied().or(self.max_rate);
        self.no_keepalive |= pace.no_keepalive;
        self.load = Exchanged::of(&load);
    }

    /// Returns what is examined.
    pub fn load(&self) -> Load {
        self.load.to(self.url.as_deref(), !self.no_keepalive)
    }
}
