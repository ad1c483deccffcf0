//! What is told, and where.

use clap::Args;
use std::path::PathBuf;

/// Where results go.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub struct OutputArgs {
    /// Write the result as JSON; '-' writes it to standard output, and nothing else
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// No progress line
    #[arg(short, long)]
    pub quiet: bool,
}
