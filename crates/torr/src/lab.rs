//! `torr lab`: suites of runs over servers that it starts itself, with one table at the end.

mod args;
mod call;
mod check;
mod databases;
mod folder;
mod load;
mod programs;
mod requests;
mod run;
mod running;
mod shown;
mod table;
mod template;

use crate::exit::CliError;
pub use args::LabArgs;
use args::LabCommand;
use std::process::ExitCode;

/// Runs a command.
pub fn run(args: &LabArgs) -> Result<ExitCode, CliError> {
    match &args.command {
        LabCommand::List => shown::list(),
        LabCommand::Show(args) => shown::show(args),
        LabCommand::Run(args) => run::run(args),
        LabCommand::Table(args) => table::print(args),
        LabCommand::NewSubject(args) => template::write(args),
    }
}
