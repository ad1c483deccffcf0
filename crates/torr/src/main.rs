//! The `torr` command: parses the command line, wires the crates together, and sets the exit code.

#![forbid(unsafe_code)]

mod again;
mod check;
mod cli;
mod config;
mod demo;
mod doctor;
mod exit;
mod flags;
mod fronts;
mod group;
mod import;
mod interrupt;
mod limit;
mod output;
mod own_server;
mod plan_file;
mod press;
mod script;
mod serve;
mod service;
mod session;
mod sink;
mod target;
mod toml_value;
mod watch;

use fronts::Front;
use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<_> = std::env::args_os().collect();
    let outcome = match args.first().and_then(|program| Front::called_as(program)) {
        Some(front) => front.run(args[1..].to_vec()),
        None => cli::run(&args),
    };
    outcome.unwrap_or_else(|stop| stop.report())
}
