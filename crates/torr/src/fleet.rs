//! `torr fleet`: a load from several machines at once, with one result.

mod agent;
mod args;
mod lines;
mod load;
mod manage;
mod run;
mod steps;

use crate::exit::CliError;
pub use args::{FleetArgs, FleetCommand, FleetOf, ThroughFleet, failed};
pub use lines::line;
use std::process::ExitCode;
pub use steps::{Step, StepLoad, Steps};
use torr_load::Load;

/// Runs a command; `load` is that of `torr fleet run`.
pub fn run(args: &FleetArgs, load: Option<Load>) -> Result<ExitCode, CliError> {
    match &args.command {
        FleetCommand::Agent(args) => agent::run(args),
        FleetCommand::Run(args) => run::run(args, load.unwrap_or_default()),
        FleetCommand::List(args) => manage::list(args),
        FleetCommand::Stop(args) => manage::stop(args),
    }
}
