//! HTTP/2 instead of HTTP/1.1.

use super::values::depth;
use clap::{ArgGroup, Args};

/// Whether HTTP/2 is spoken, and how.
#[derive(Debug, Clone, Args)]
#[command(group(ArgGroup::new("h2").args(["http2", "http2_prior_knowledge"])))]
pub struct Http2Args {
    /// HTTP/2, which the server has to agree to in the TLS handshake
    #[arg(long)]
    pub http2: bool,
    /// HTTP/2 without asking the server first, with or without TLS
    #[arg(long)]
    pub http2_prior_knowledge: bool,
    /// Requests under way at a time on each connection of HTTP/2 [default: 1]
    #[arg(long, value_parser = depth, value_name = "N", requires = "h2", conflicts_with = "no_keepalive")]
    pub streams: Option<u16>,
}
