//! The `torr` command: parses the command line, wires the crates together, and sets the exit code.

#![forbid(unsafe_code)]

mod cli;
mod config;
mod demo;
mod doctor;
mod exit;
mod fronts;
mod group;
mod interrupt;
mod limit;
mod output;
mod own_server;
mod press;
mod serve;
mod service;
mod watch;

use clap::Parser;
use fronts::Front;
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut args = std::env::args_os();
    let outcome = match args.next().and_then(|program| Front::called_as(&program)) {
        Some(front) => front.run(args.collect()),
        None => match cli::Cli::try_parse() {
            Ok(cli) => cli.run(),
            Err(error) => exit::from_clap(error),
        },
    };
    outcome.unwrap_or_else(|stop| stop.report())
}
