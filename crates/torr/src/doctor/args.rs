//! `torr doctor` on the command line.

use super::compare::args::CompareArgs;
use crate::fleet::ThroughFleet;
use clap::Args;
use std::path::PathBuf;
use std::time::Duration;
use torr_load::values::{connections, duration, per_second, threads};
use torr_load::{Load, Sent};

/// `torr doctor`.
#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// A URL, whose 'http://' may be left out; or a.hurl, script.lua, or plan.toml, of which the load is passed over
    #[arg(required_unless_present_any = ["sweep", "command", "tls"])]
    pub url: Option<String>,
    /// Connections at a time that the service is meant to stand
    #[arg(short, long, default_value_t = 100, value_parser = connections, value_name = "N")]
    pub connections: usize,
    /// Threads of the generator [default: one per CPU]
    #[arg(short, long, value_parser = threads)]
    pub threads: Option<usize>,
    /// How long all experiments may take together
    #[arg(long, default_value = "60s", value_parser = duration, value_name = "DURATION")]
    pub budget: Duration,
    /// Never more requests per second than this
    #[arg(long, value_parser = per_second, value_name = "RATE")]
    pub max_rate: Option<f64>,
    /// Never more connections than this [default: twice -c]
    #[arg(long, value_parser = connections, value_name = "N")]
    pub max_connections: Option<usize>,
    /// The clients open a connection for each request
    #[arg(long)]
    pub no_keepalive: bool,
    /// Examine a service that is not on this machine or a private network: you vouch that you may
    #[arg(long)]
    pub i_own_this: bool,
    /// What the server's machine offers by 'torr watch', or a node_exporter there, which tells less; HOST:PORT
    #[arg(long, value_name = "ADDRESS")]
    pub watch: Option<String>,
    /// The token that it wants; TORR_WATCH_TOKEN in the environment does the same
    #[arg(long, value_name = "TOKEN", requires = "watch")]
    pub watch_token: Option<String>,
    /// Write the diagnosis with all experiments as JSON; '-' is standard output, where nothing else is written then
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Write a report with verdict, evidence and all experiments as one HTML page
    #[arg(long, value_name = "FILE", conflicts_with_all = ["sweep", "via", "tls", "paths"])]
    pub report: Option<PathBuf>,
    /// No progress on stderr
    #[arg(short, long)]
    pub quiet: bool,
    #[command(flatten)]
    pub compare: CompareArgs,
    #[command(flatten)]
    pub load: Sent,
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
        self.load = Sent::of(&load);
    }

    /// Returns what is examined.
    pub fn load(&self) -> Load {
        self.load.to(self.url.as_deref(), !self.no_keepalive)
    }
}
