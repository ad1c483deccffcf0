//! The command line: each command goes to the module that runs it.

mod commands;
mod grammar;

use crate::exit::{self, Stop};
use crate::fronts::Front;
use crate::press::PressArgs;
use crate::session::{self, RunFile};
use clap::Parser;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use grammar::{Cli, Command};
use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

/// Does what a command line asks for; the program's name comes first.
pub fn run(args: &[OsString]) -> Result<ExitCode, Stop> {
    let first = args.get(1).and_then(|word| word.to_str());
    if let Some(mistake) = first.and_then(commands::mistyped) {
        return Err(mistake);
    }
    match Cli::try_parse_from(args) {
        Ok(cli) => execute(cli),
        Err(error) => match (error.kind(), error.get(ContextKind::InvalidSubcommand)) {
            // clap takes whatever stands behind a URL for a command.
            (ErrorKind::ArgumentConflict, Some(ContextValue::String(second))) => {
                let mut words = args.iter().skip(1).filter_map(|word| word.to_str());
                Err(match first.filter(|word| commands::is_bare(word)) {
                    Some(first) => commands::unknown(first),
                    None => words.find_map(commands::misplaced).unwrap_or_else(|| commands::second_target(second)),
                })
            }
            _ => exit::from_clap(error),
        },
    }
}

/// Shows the help of a command, or that of the program.
fn help(command: Option<&str>) -> Result<ExitCode, Stop> {
    if let Some(unknown) = command.filter(|command| commands::names().all(|name| name != *command)) {
        return Err(commands::unknown(unknown));
    }
    // What other programs' flags mean only they know.
    let flag = if command.is_some_and(Front::is_called) { "-h" } else { "--help" };
    let args: Vec<OsString> = ["torr"].into_iter().chain(command).chain([flag]).map(OsString::from).collect();
    run(&args)
}

/// Runs the command, or presses the URL.
fn execute(cli: Cli) -> Result<ExitCode, Stop> {
    match cli.command {
        Some(Command::Serve(args)) => crate::serve::run(&args),
        Some(Command::Doctor(args)) => crate::doctor::run(&args),
        Some(Command::Limit(args)) => crate::limit::run(&args),
        Some(Command::Demo(args)) => crate::demo::run(&args),
        Some(Command::Watch(args)) => crate::watch::run(&args),
        Some(Command::Check(args)) => crate::check::run(&args),
        Some(Command::Once(args)) => crate::session::once(&args),
        Some(Command::Import(args)) => crate::import::run(&args),
        Some(Command::Ab(args)) => Front::Ab.run(args.args),
        Some(Command::Wrk(args)) => Front::Wrk.run(args.args),
        Some(Command::Httpress(args)) => Front::Httpress.run(args.args),
        Some(Command::Press(args)) => Front::Press.run(args.args),
        Some(Command::Help { command }) => help(command.as_deref()),
        None => press(&cli.press),
    }
}

/// Presses a URL, unless the URL is a mistyped command.
fn press(args: &PressArgs) -> Result<ExitCode, Stop> {
    let word = args.url.as_deref().unwrap_or_default();
    if let Some(mistake) = commands::misplaced(word) {
        return Err(mistake);
    }
    if session::is_hurl(word) {
        return crate::press::run_sessions(args, &[RunFile::new(Path::new(word))]);
    }
    let plan = crate::press::plan(args).map_err(|stop| commands::also_no_command(word, stop))?;
    crate::press::run(args, &plan)
}
