//! The clinic: services with planted faults, one after another, and what Torr's doctor says of each.
//!
//! One binary holds the runner and, as hidden commands, the ill services themselves, so that there is nothing else to
//! build or to find.
#![forbid(unsafe_code)]

mod cli;
mod dry;
mod environment;
mod judge;
mod outcome;
mod relay;
mod round;
mod service;
mod subject;
mod subjects;
mod totals;

use crate::cli::{Cli, Role};
use clap::Parser;
use std::process::ExitCode;
use torr_test_support::{error, interrupt};

fn main() -> ExitCode {
    let cli = Cli::parse();
    let done = match cli.role {
        Some(Role::Service(options)) => service::run(options).map(|()| true),
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
