//! The options of the sampling of ways to a database.

use std::path::PathBuf;

use clap::Args;

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
    /// The torr program to measure, instead of building this tree's
    #[arg(long, value_name = "PATH")]
    pub torr: Option<PathBuf>,
    /// Print the tables and draw the plot only
    #[arg(long)]
    pub no_archive: bool,
}
