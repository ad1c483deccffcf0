//! `torr URL` on the command line.

use super::{CheckArgs, LoadArgs, OutputArgs, RequestArgs, TransportArgs};
use clap::Args;

/// `torr URL`.
#[derive(Debug, Args)]
pub struct PressArgs {
    /// Where to; 'http://' may be left out
    #[arg(required_unless_present = "urls")]
    url: Option<String>,
    #[command(flatten)]
    pub load: LoadArgs,
    #[command(flatten)]
    pub request: RequestArgs,
    #[command(flatten)]
    pub transport: TransportArgs,
    #[command(flatten)]
    pub checks: CheckArgs,
    #[command(flatten)]
    pub output: OutputArgs,
}

impl PressArgs {
    /// The URL, which there is unless there is a list of them.
    pub fn url(&self) -> Option<&str> {
        self.url.as_deref()
    }
}
