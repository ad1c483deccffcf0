//! What is sent.

use clap::Args;

/// The request.
#[derive(Debug, Args)]
#[command(next_help_heading = "Request")]
pub struct RequestArgs {
    /// A header, as 'Name: value'; may be repeated
    #[arg(short = 'H', long = "header", value_name = "HEADER")]
    pub headers: Vec<String>,
    /// The method [default: GET, or POST with --data]
    #[arg(short = 'X', long = "request", value_name = "METHOD")]
    pub method: Option<String>,
    /// A body; @FILE reads it from a file, @- from standard input
    #[arg(long, value_name = "TEXT")]
    pub data: Option<String>,
}
