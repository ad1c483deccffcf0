//! The `torr` command: parses the command line, wires the crates together, and sets the exit code.

#![forbid(unsafe_code)]

mod again;
mod base;
mod certificate;
mod check;
mod cli;
mod command_line;
mod compare;
mod config;
mod demo;
mod doctor;
mod exit;
mod flags;
mod fleet;
mod fronts;
mod group;
mod history;
mod import;
mod interrupt;
mod judge;
mod k6;
mod lab;
mod launch;
mod limit;
mod links;
mod mcp;
mod once;
mod output;
mod own_server;
mod plan_file;
mod press;
mod random;
mod replay;
mod report;
mod script;
mod serve;
mod service;
mod session;
mod shown;
mod sink;
mod steps;
mod toml_value;
mod transcript;
mod watch;

use std::process::ExitCode;
use torr_fronts::Front;

fn main() -> ExitCode {
    let args: Vec<_> = std::env::args_os().collect();
    let outcome = match args.first().and_then(|program| Front::called_as(program)) {
        Some(front) => fronts::run(front, args[1..].to_vec()),
        None => cli::run(&args),
    };
    output::exit_code(outcome.unwrap_or_else(|stop| stop.report()))
}
