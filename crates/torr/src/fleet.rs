//! `torr fleet`: a load from several machines at once, with one result.

mod agent;
mod args;
mod load;
mod manage;
mod run;
mod steps;

use crate::exit::CliError;
pub use args::{FleetArgs, FleetCommand, FleetOf, ThroughFleet, failed};
use std::process::ExitCode;
pub use steps::{Step, StepLoad, Steps};
use torr_fleet::{FleetError, RunEvent};
use torr_load::Load;
use torr_report::sentence;

/// Runs a command; `load` is that of `torr fleet run`.
pub fn run(args: &FleetArgs, load: Option<Load>) -> Result<ExitCode, CliError> {
    match &args.command {
        FleetCommand::Agent(args) => agent::run(args),
        FleetCommand::Run(args) => run::run(args, load.unwrap_or_default()),
        FleetCommand::List(args) => manage::list(args),
        FleetCommand::Stop(args) => manage::stop(args),
    }
}

/// Returns the error of a fleet in one line.
pub fn line(error: &FleetError) -> String {
    match error {
        FleetError::NoInterval(because_of) => sentence::fleet::no_result(because_of.as_ref()),
        error => error.to_string(),
    }
}

/// Returns an event of a run in one line.
fn event(event: RunEvent<'_>) -> String {
    match event {
        RunEvent::AgentLost { agent, why } => sentence::fleet::lost(agent.as_str(), why),
        RunEvent::StoppedByCommand => "'torr fleet stop' stopped the run".into(),
    }
}
