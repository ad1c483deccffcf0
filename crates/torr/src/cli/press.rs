//! `torr URL` on the command line.

use super::{LoadArgs, OutputArgs, RequestArgs, TransportArgs};
use clap::Args;

/// `torr URL`.
#[derive(Debug, Args)]
pub struct PressArgs {
    /// Where to; 'http://' may be left out
    #[arg(required = true)]
    url: Option<String>,
    #[command(flatten)]
    pub load: LoadArgs,
    #[command(flatten)]
    pub request: RequestArgs,
    #[command(flatten)]
    pub transport: TransportArgs,
    #[command(flatten)]
    pub output: OutputArgs,
}

impl PressArgs {
    /// The URL, which the command line cannot do without.
    pub fn url(&self) -> &str {
        self.url.as_deref().expect("clap requires it where there is no subcommand")
    }
}
