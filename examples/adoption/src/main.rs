//! Builds public axum programs twice, as they are and moved to torr-serve by a change of at most three lines, sends both the same
//! requests, and compares the responses byte by byte but for dates.

mod client;
mod compare;
mod listed;
mod request;
mod response;
mod server;
mod sources;
mod table;
mod trial;
mod workspace;

use listed::Program;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const USAGE: &str = "\
usage: adoption [--list] [--offline] [--show] [NAME...]
  NAME          compare these programs only; a part of a name is enough
  --list        print the programs and what is changed in them
  --offline     fetch nothing: all sources have been fetched before
  --show        print every request with both responses' status
The sources come from the package registry, through cargo. What is built stays in CARGO_TARGET_DIR, or target/ here, so that a
run which was interrupted continues where it was.";

/// What the command line asks for.
#[derive(Default)]
struct Options {
    list: bool,
    offline: bool,
    show: bool,
    names: Vec<String>,
}

fn options() -> Result<Options, String> {
    let mut options = Options::default();
    for argument in std::env::args().skip(1) {
        match argument.as_str() {
            "--list" => options.list = true,
            "--offline" => options.offline = true,
            "--show" => options.show = true,
            "--help" | "-h" => return Err(USAGE.to_owned()),
            flag if flag.starts_with('-') => return Err(format!("unknown flag {flag}\n{USAGE}")),
            name => options.names.push(name.to_owned()),
        }
    }
    Ok(options)
}

/// Returns the programs that the command line names, or all.
fn chosen(names: &[String]) -> Result<Vec<Program>, String> {
    let mut programs = listed::programs()?;
    if let Some(unknown) = names.iter().find(|name| !programs.iter().any(|program| program.name.contains(*name))) {
        return Err(format!("no program is called {unknown}: see --list"));
    }
    programs.retain(|program| names.is_empty() || names.iter().any(|name| program.name.contains(name)));
    Ok(programs)
}

fn run() -> Result<bool, String> {
    let options = options()?;
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let programs = chosen(&options.names)?;
    if options.list {
        table::print_programs(&programs);
        return Ok(true);
    }
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| here.join("target"), PathBuf::from);
    let all = listed::programs()?;
    let folders = sources::find(&all, here, &target, options.offline)?;
    // The workspace has all programs always, so that versions do not depend on which are chosen.
    let built = workspace::build(&all, &programs, &folders, here, &target, options.offline)?;
    let mut rows = Vec::new();
    for program in &programs {
        eprintln!("{}", program.name);
        rows.push(trial::run(program, &built, options.show));
    }
    table::print(&rows);
    Ok(rows.iter().all(table::Row::is_same))
}

fn main() -> ExitCode {
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(message) => {
            eprintln!("adoption: {message}");
            ExitCode::from(2)
        }
    }
}
