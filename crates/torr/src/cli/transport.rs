//! How the service is reached.

use super::Http2Args;
use clap::Args;
use std::net::IpAddr;

/// The way there.
#[derive(Debug, Args)]
#[command(next_help_heading = "Transport")]
pub struct TransportArgs {
    /// Addresses of this machine to connect from, taken in turn; each has its own local ports
    #[arg(long, value_name = "ADDR", value_delimiter = ',')]
    pub bind: Vec<IpAddr>,
    #[command(flatten)]
    pub http2: Http2Args,
}
