//! `torr watch` on the command line.

use clap::Args;

const EXAMPLES: &str = "\
Examples:
  torr watch                               for 'torr doctor' here, also by SSH
  TORR_WATCH_TOKEN=... torr watch --listen 0.0.0.0:9300    for other machines
  curl 'http://127.0.0.1:9300/signals?port=8080'    what listens there, as JSON
  curl 'http://127.0.0.1:9300/metrics?port=8080'    the same for Prometheus";

/// `torr watch`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct WatchArgs {
    /// Where to offer what is seen
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:9300")]
    pub listen: String,
    /// Only services on this port may be watched; can be given several times [default: all]
    #[arg(long = "port", value_name = "PORT", value_parser = clap::value_parser!(u16).range(1..))]
    pub ports: Vec<u16>,
    /// Who asks has to show this, as 'Authorization: Bearer TOKEN'; TORR_WATCH_TOKEN in the environment does the same, and
    /// does not show in the list of processes
    #[arg(long, value_name = "TOKEN")]
    pub token: Option<String>,
}
