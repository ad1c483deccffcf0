//! `torr serve` and `torr demo` on the command line.

use super::values::positive;
use clap::Args;
use std::path::PathBuf;

/// `torr serve`.
#[derive(Debug, Args)]
pub struct ServeArgs {
    /// Address and port to listen on; port 0 takes a free one
    #[arg(long, default_value = "127.0.0.1:8080", value_name = "ADDR")]
    pub listen: String,
    /// Worker threads [default: one per CPU]
    #[arg(long, value_parser = positive, value_name = "N")]
    pub workers: Option<usize>,
    /// Most bytes of a request's head
    #[arg(long, default_value = "8192", value_parser = positive, value_name = "BYTES")]
    pub max_head: usize,
    /// Most header fields of a request, up to 256
    #[arg(long, default_value = "100", value_parser = clap::value_parser!(u16).range(1..=256), value_name = "N")]
    pub max_headers: u16,
    /// Most bytes of a request's body
    #[arg(long, default_value = "1048576", value_name = "BYTES")]
    pub max_body: u64,
    /// Most connections at a time; further ones get a 503
    #[arg(long, default_value = "100000", value_parser = positive, value_name = "N")]
    pub max_connections: usize,
}

/// `torr demo`.
#[derive(Debug, Args)]
pub struct DemoArgs {
    /// Take 2 seconds instead of 10 for each setting
    #[arg(long)]
    pub quick: bool,
    /// Where to write all figures as JSON; '-' writes them to standard output, and nothing else
    #[arg(long, default_value = "torr-demo.json", value_name = "FILE")]
    pub json: PathBuf,
}
