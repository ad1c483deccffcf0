//! The clinic: services with planted faults, the diagnosis of each by Torr's doctor or another tool, and the gain of the advice.
//!
//! One binary holds the runner and, as hidden commands, the services with faults, so that there is nothing else to build or to
//! find.
#![forbid(unsafe_code)]

mod case;
mod cli;
mod dry;
mod environment;
mod finding;
mod given;
mod judge;
mod judged;
mod located;
mod location;
mod markdown;
mod outcome;
mod promise;
mod relay;
mod round;
mod run;
mod service;
mod subject;
mod subjects;
mod totals;
mod up;

use crate::cli::{Cli, Role};
use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    let cli = Cli::parse();
    let done = match cli.role {
        Some(Role::Cases(options)) => up::list(&options).map(|()| true),
        Some(Role::Up(options)) => up::up(&options).map(|()| true),
        Some(Role::Judge(options)) => judged::run(&options),
        Some(Role::Service(options)) => service::read(&options).and_then(service::run).map(|()| true),
        Some(Role::Relay(options)) => relay::run(&options).map(|()| true),
        None => round::run(&cli.options),
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("torr-clinic: {error}");
            ExitCode::from(error.exit_code())
        }
    }
}
