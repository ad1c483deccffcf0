//! The options of the sampling of ways to a database.

use std::path::PathBuf;

use clap::Args;

use crate::options::RunOptions;

/// How the ways to a database are sampled.
#[derive(Args)]
pub struct WhereOptions {
    /// How long each way is sampled, in turns of one second
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    pub seconds: u32,
    /// Connections of the load, kept alive
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..))]
    pub connections: u32,
    /// Where the plot goes [default: bench/orm-cost.svg of this tree]
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
    /// What is measured, and whether it is kept.
    #[command(flatten)]
    pub run: RunOptions,
}
