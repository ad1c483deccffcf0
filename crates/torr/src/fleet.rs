//! `torr fleet`: a load from several machines at once, with one result.

mod agent;
mod args;
mod load;
mod manage;
mod run;
mod steps;
mod words;

use crate::exit::CliError;
use args::FleetCommand;
pub use args::{FleetArgs, FleetOf, ThroughFleet, failed};
pub use load::{FleetLoad, WordSource};
use std::process::ExitCode;
pub use steps::{Step, StepLoad, Steps};

/// Runs a command. `read` reads the words of a load.
pub fn run(args: &FleetArgs, read: load::Reader) -> Result<ExitCode, CliError> {
    match &args.command {
        FleetCommand::Agent(args) => agent::run(args, read),
        FleetCommand::Run(args) => run::run(args, read),
        FleetCommand::List(args) => manage::list(args),
        FleetCommand::Stop(args) => manage::stop(args),
    }
}
