//! What Torr costs per request, measured in turns against the kernel's floor and against its peers.
//!
//! `torr-bench all` measures both sides and archives the run; see `bench/README.md`. One binary holds the driver and,
//! as hidden commands, the floor programs and the launcher, so that there is nothing else to build or to find.
#![forbid(unsafe_code)]

mod archive;
mod built;
mod candidates;
mod child;
mod cli;
mod computing;
mod cpu;
mod data;
mod files;
mod fleet;
mod floor;
mod http3;
mod launch;
mod limits;
mod machine;
mod measure;
mod options;
mod power;
mod press;
mod probe;
mod profile;
mod reload;
mod report;
mod roster;
mod rounds;
mod scenario;
mod scrape;
mod serve;
mod sessions;
mod soak;
mod streams;
mod turn;
mod users;

use std::io::Write;
use std::process::ExitCode;

use torr_test_support::error::Error;
use torr_test_support::interrupt;

fn main() -> ExitCode {
    let done = cli::parse().and_then(|command| match command {
        cli::Command::FloorServer(args) => floor::server::run(&args).map_err(Error::from),
        cli::Command::FloorClient(args) => floor::client::run(&args).map_err(Error::from),
        cli::Command::Launch(args) => launch::run(&args),
        cli::Command::All(options) => {
            bench(&options, &[scenario::Side::Press, scenario::Side::Serve, scenario::Side::Transport])
        }
        cli::Command::Press(options) => bench(&options, &[scenario::Side::Press]),
        cli::Command::Serve(options) => bench(&options, &[scenario::Side::Serve]),
        cli::Command::Transport(options) => bench(&options, &[scenario::Side::Transport]),
        cli::Command::Data(options) => data::run(&options),
        cli::Command::Where(options) => profile::run(&options),
        cli::Command::Reload(options) => reload::run(&options),
        cli::Command::Sessions(options) => sessions::run(&options),
        cli::Command::Users(options) => users::run(&options),
        cli::Command::Fleet(options) => fleet::run(&options),
        cli::Command::Streams(options) => streams::run(&options),
        cli::Command::Http3(options) => http3::run(&options),
        cli::Command::Soak(options) => soak::run(&options),
        cli::Command::Files(options) => files::run(&options),
        cli::Command::Computing(options) => computing::run(&options),
        cli::Command::Power(options) => power::run(&options),
        cli::Command::Planted(args) => power::planted::run(&args),
    });
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("torr-bench: {e}");
            ExitCode::from(e.exit_code())
        }
    }
}

/// Measures the scenarios of these sides, prints their tables and archives them.
fn bench(options: &options::Options, sides: &[scenario::Side]) -> Result<(), Error> {
    interrupt::install()?;
    machine::check(options.connections.iter().copied().max().unwrap_or(0))?;
    let scenarios = scenario::all(sides, &options.connections, &options.styles);
    if scenarios.is_empty() {
        return Err(Error::Usage("no scenario of this command is of a style in --styles".into()));
    }
    let roster = roster::Roster::choose(options, &scenarios)?;
    let started = std::time::SystemTime::now();
    let machine = machine::Machine::describe(&roster);

    let mut measured = Vec::new();
    let ended: Result<(), Error> = scenarios.into_iter().try_for_each(|scenario| {
        measured.push(match scenario.side {
            scenario::Side::Press | scenario::Side::Transport => press::measure(&roster, scenario, options)?,
            scenario::Side::Serve => serve::measure(&roster, scenario, options)?,
        });
        Ok(())
    });
    measured.retain(|m: &measure::Measured| !(m.summary.is_empty() && m.skipped.is_empty())); // without candidates
    let _ = std::io::stdout().write_all(report::tables(&measured).as_bytes()); // a reader that is gone misses only the screen
    ended?; // what was measured before a failure or Ctrl-C is on the screen, but only a whole run is archived

    if !options.run.no_archive {
        let folder = archive::write(&archive::Run::new(started, options, machine, &measured))?;
        eprintln!("archived in bench/runs/{folder}");
    }
    match measured.iter().flat_map(|m| &m.skipped).filter(|s| candidates::is_ours(s.candidate)).count() {
        0 => Ok(()),
        n => Err(Error::failed(format!("torr itself could not be measured in {n} of the scenarios, see the table"))),
    }
}
