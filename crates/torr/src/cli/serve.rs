//! `torr serve` and `torr demo` on the command line.

use crate::config::Flags;
use crate::service::EMBEDDED;
use clap::Args;
use std::path::PathBuf;

/// How one setting is called in each place.
const PLACES: &str = "\
Every setting can stand in three places, of which the last is the strongest: max_head in the file of --config, \
TORR_SERVE_MAX_HEAD in the environment, and --max-head.";

/// `torr serve`.
#[derive(Debug, Args)]
#[command(after_help = PLACES)]
pub struct ServeArgs {
    /// Read settings from this TOML file; TORR_SERVE_CONFIG names one as well
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Print the configuration as TOML with where each value comes from, and do not serve
    #[arg(long)]
    pub print_config: bool,
    #[command(flatten)]
    pub flags: Flags,
}

/// `torr demo`.
#[derive(Debug, Args)]
pub struct DemoArgs {
    /// Take one second instead of 6 for each setting
    #[arg(long)]
    pub quick: bool,
    /// The database of the server, as with 'torr serve'; its tables are made and filled if they are missing
    #[arg(long, value_name = "URL", default_value = EMBEDDED, hide_default_value = true)]
    pub database: String,
    /// Write all figures as JSON; '-' writes them to standard output, and nothing else
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
}
