//! The options of the comparison of ways to a database.

use clap::Args;

use super::scenario::{Group, Operation};
use crate::options::{RunOptions, Size};

/// How the ways to a database are measured.
#[derive(Args)]
pub struct DataOptions {
    /// How many turns, and how long.
    #[command(flatten)]
    pub size: Size,
    /// Connections of the load, kept alive
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..))]
    pub connections: u32,
    /// Only these databases and groups
    #[arg(long, value_delimiter = ',')]
    pub styles: Vec<Group>,
    /// Only these operations
    #[arg(long, value_delimiter = ',')]
    pub operations: Vec<Operation>,
    /// Only these candidates, of torr, sqlx (with SeaORM), gin and php
    #[arg(long, value_delimiter = ',')]
    pub only: Vec<String>,
    /// What is measured, and whether it is kept.
    #[command(flatten)]
    pub run: RunOptions,
}
